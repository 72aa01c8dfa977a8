import { drawBoxes } from '../boxes.ts'
import { encodePng } from '../png.ts'

/** Google shows logos in a circle and wants them this large at least (Google Wallet, "Brand guidelines"). */
const SIZE = 660

/** Those drawn last, by their colours: each is asked for at every address that it has. */
const drawn = new Map<string, Promise<Buffer>>()
const MAX_DRAWN = 50

/** A square in one colour with a smaller one in another, as PNG: the logo of templates that have none. Colours as `#RRGGBB`. */
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
