import { type RenderOptions, toSVG } from 'bwip-js/node'
import type { PassState } from '../pass-state.ts'

export type Barcode = PassState['barcode']

/** A barcode as an SVG element, black on white, with its quiet zone. Sizes in modules, the narrowest bar or dot. */
export interface DrawnBarcode {
  readonly svg: string
  readonly width: number
  readonly height: number
}

/** Size of a module in the drawing, and how each is drawn with the quiet zone that its standard asks for. */
const SYMBOLOGIES: Readonly<
  Record<Barcode['format'], { readonly module: number; readonly options: Omit<RenderOptions, 'text'> }>
> = {
  // ISO/IEC 18004: four modules
  qr: { module: 2, options: { bcid: 'qrcode', padding: 8 } },
  // ISO/IEC 24778 asks for none; two keep the code apart from what is around
  aztec: { module: 2, options: { bcid: 'azteccode', padding: 4 } },
  // ISO/IEC 15438: two modules
  pdf417: { module: 1, options: { bcid: 'pdf417', padding: 4 } },
  // ISO/IEC 15417: ten modules at both ends
  code128: { module: 1, options: { bcid: 'code128', paddingwidth: 10, paddingheight: 4, height: 20 } },
}

/** @returns undefined where the format cannot hold the message. Takes some milliseconds of a core, 100 for long ones. */
export function drawBarcode({ format, message }: Barcode): DrawnBarcode | undefined {
  const { module, options } = SYMBOLOGIES[format]
  // Code 128 has the characters of Latin-1, one each; the others are given UTF-8, which scanners recognize.
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
    // What BWIPP refuses says so by its own prefix; anything else is a fault of ours.
    if (error instanceof Error && /^bwipp\.|^bwip-js:/.test(error.message)) return undefined
    throw error
  }
}
