/** Pictures of the demo templates, drawn here so that the repository needs no files. */
import { PNG } from 'pngjs'

type Rgb = readonly [red: number, green: number, blue: number]

/** Draws a PNG and returns it in base64, as templates take it. @param colorAt color at a place from 0 to 1 in both directions. */
function draw(width: number, height: number, colorAt: (x: number, y: number) => Rgb): string {
  const picture = new PNG({ width, height, colorType: 2 })
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      picture.data.set([...colorAt(x / width, y / height), 255], (y * width + x) * 4)
  return PNG.sync.write(picture, { colorType: 2 }).toString('base64')
}

const mix = (from: Rgb, to: Rgb, part: number): Rgb => [
  from[0] + (to[0] - from[0]) * part,
  from[1] + (to[1] - from[1]) * part,
  from[2] + (to[2] - from[2]) * part,
]

/** Waves of one color before another. */
export const drawStrip = (ground: Rgb, wave: Rgb): string =>
  draw(750, 246, (x, y) => {
    const height = (from: number, rate: number) => from + 0.12 * Math.sin(x * rate + from * 9)
    const depth = [height(0.35, 5), height(0.55, 7), height(0.75, 4)].filter((edge) => y > edge).length
    return mix(ground, wave, depth / 3)
  })

/** A ring on a plain ground. */
export const drawIcon = (size: number, ground: Rgb, ring: Rgb): string =>
  draw(size, size, (x, y) => {
    const radius = Math.hypot(x - 0.5, y - 0.5)
    return radius > 0.22 && radius < 0.36 ? ring : ground
  })
