import { type RenderOptions, toSVG } from 'bwip-js/node'
import type { PassState } from '../pass-state.ts'

export type Barcode = PassState['barcode']

/** A barcode as a black and white SVG element with its quiet zone. Sizes are in modules (the narrowest bar or dot). */
export interface DrawnBarcode {
  readonly svg: string
  readonly width: number
  readonly height: number
}

/** Module size in the drawing, and the options with the quiet zone that each standard requires. */
const SYMBOLOGIES: Readonly<
  Record<Barcode['format'], { readonly module: number; readonly options: Omit<RenderOptions, 'text'> }>
> = {
  // ISO/IEC 18004: four modules
  qr: { module: 2, options: { bcid: 'qrcode', padding: 8 } },
  // ISO/IEC 24778: no quiet zone required; two modules separate the code from its surroundings
  aztec: { module: 2, options: { bcid: 'azteccode', padding: 4 } },
  // ISO/IEC 15438: two modules
  pdf417: { module: 1, options: { bcid: 'pdf417', padding: 4 } },
  // ISO/IEC 15417: ten modules on each side
  code128: { module: 1, options: { bcid: 'code128', paddingwidth: 10, paddingheight: 4, height: 20 } },
}

/**
 * Draws a barcode. Takes a few milliseconds of CPU time, and 100 ms for long messages.
 *
 * @returns undefined if the format cannot hold the message.
 */
export function drawBarcode({ format, message }: Barcode): DrawnBarcode | undefined {
  const { module, options } = SYMBOLOGIES[format]
  // For Code 128, each Latin-1 character is one byte; the other formats get UTF-8, which scanners detect.
  const isLatin = format === 'code128'
  if (isLatin && !/^[\0-\xff]*$/.test(message)) return undefined
  const svg = tryDraw({ ...options, text: message, binarytext: isLatin, scale: 1, backgroundcolor: 'FFFFFF' })
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg ?? '') ?? []
  if (svg === undefined || width === undefined) return undefined
  return { svg: svg.trim(), width: Number(width) / module, height: Number(height) / module }
}

function tryDraw(options: RenderOptions): string | undefined {
  try {
    return toSVG(options)
  } catch (error) {
    // Errors with these prefixes mean that BWIPP rejects the message. Other errors are bugs.
    if (error instanceof Error && /^bwipp\.|^bwip-js:/.test(error.message)) return undefined
    throw error
  }
}
