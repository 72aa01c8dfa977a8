import { drawBoxes } from '../boxes.ts'
import { encodePng } from '../png.ts'

/**
 * Logo size in pixels. Google shows logos in a circle and requires at least this size (Google Wallet, "Brand
 * guidelines").
 */
const SIZE = 660

/** Recently drawn logos by color. The same logo is requested at several addresses. */
const drawn = new Map<string, Promise<Buffer>>()
const MAX_DRAWN = 50

/** Draws the PNG logo for templates without one: a square with a smaller square inside. Colors are `#RRGGBB`. */
export function drawDefaultLogo(background: string, foreground: string): Promise<Buffer> {
  const name = `${background} ${foreground}`
  const known = drawn.get(name)
  if (known) return known
  if (drawn.size >= MAX_DRAWN) drawn.clear()
  const [from, to] = [1 / 3, 2 / 3]
  const image = drawBoxes(SIZE, [
    [background, 0, 0, 1, 1],
    [foreground, from, from, to, to],
  ])
  const logo = encodePng(image)
  drawn.set(name, logo)
  return logo
}
