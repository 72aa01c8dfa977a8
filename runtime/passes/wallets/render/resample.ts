/**
 * Scales images. pngjs cannot scale, and sharp would add a native library for each platform to replace these 50 lines.
 */
import type { Image } from './png.ts'

/**
 * Resizes an image. Each new pixel is the mean of the area that it covers, which preserves thin lines when the image
 * gets smaller. Colors are weighted by their opacity.
 */
export function resample(image: Image, width: number, height: number): Image {
  if (width === image.width && height === image.height) return image
  const pixels = new Uint8Array(4 * width * height)
  const columns = coverage(image.width, width)
  const rows = coverage(image.height, height)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) pixels.set(meanOf(image, columns[x]!, rows[y]!), 4 * (y * width + x))
  }
  return { width, height, pixels }
}

/** The source pixels that a new pixel covers along one axis, with their weights. */
interface Cover {
  readonly first: number
  readonly weights: readonly number[]
}

function coverage(from: number, to: number): Cover[] {
  const step = from / to
  return Array.from({ length: to }, (_, index) => {
    const [start, end] = [index * step, Math.min((index + 1) * step, from)]
    const first = Math.min(Math.floor(start), from - 1)
    const last = Math.max(first, Math.ceil(end) - 1)
    const weights = Array.from(
      { length: last - first + 1 },
      (_, n) => Math.min(end, first + n + 1) - Math.max(start, first + n),
    )
    return { first, weights }
  })
}

function meanOf({ width, pixels }: Image, column: Cover, row: Cover): readonly number[] {
  let [red, green, blue, alpha, area] = [0, 0, 0, 0, 0]
  for (let y = 0; y < row.weights.length; y += 1) {
    let at = 4 * ((row.first + y) * width + column.first)
    for (const across of column.weights) {
      const weight = across * row.weights[y]!
      const opacity = weight * pixels[at + 3]!
      red += pixels[at]! * opacity
      green += pixels[at + 1]! * opacity
      blue += pixels[at + 2]! * opacity
      alpha += opacity
      area += weight
      at += 4
    }
  }
  if (alpha === 0) return [0, 0, 0, 0]
  return [red / alpha, green / alpha, blue / alpha, alpha / area].map(Math.round)
}
