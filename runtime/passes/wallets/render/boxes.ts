import type { Image } from './png.ts'

/** A color (`#RRGGBB`) and the edges of a box, as fractions of the image side. */
export type Box = readonly [color: string, left: number, top: number, right: number, bottom: number]

/** Draws boxes on a square image; later boxes cover earlier ones. @param side in pixels. */
export function drawBoxes(side: number, boxes: readonly Box[]): Image {
  const pixels = new Uint8Array(4 * side * side)
  for (const [color, ...edges] of boxes) {
    const [left, top, right, bottom] = edges.map((part) => Math.round(part * side))
    const rgba = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)).concat(255)
    const row = Uint8Array.from({ length: 4 * (right! - left!) }, (_, at) => rgba[at % 4]!)
    for (let y = top!; y < bottom!; y += 1) pixels.set(row, 4 * (y * side + left!))
  }
  return { width: side, height: side, pixels }
}
