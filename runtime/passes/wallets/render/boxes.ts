import type { Image } from './png.ts'

/** A colour as `#RRGGBB`, and where it is drawn: left, top, right and bottom as parts of the side. */
export type Box = readonly [colour: string, left: number, top: number, right: number, bottom: number]

/** A square picture of boxes, each over those before it. @param side in pixels. */
export function drawBoxes(side: number, boxes: readonly Box[]): Image {
  const pixels = new Uint8Array(4 * side * side)
  for (const [colour, ...edges] of boxes) {
    const [left, top, right, bottom] = edges.map((part) => Math.round(part * side))
    const rgba = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)).concat(255)
    const row = Uint8Array.from({ length: 4 * (right! - left!) }, (_, at) => rgba[at % 4]!)
    for (let y = top!; y < bottom!; y += 1) pixels.set(row, 4 * (y * side + left!))
  }
  return { width: side, height: side, pixels }
}
