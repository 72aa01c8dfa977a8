import { decodePng, readPng } from '../wallets/render/png.ts'

/** What an image may be: pixels and bytes. */
export interface ImageRule {
  readonly width: number
  readonly height: number
  readonly bytes: number
  /** Square, with sides of at least so many pixels. */
  readonly squareFrom?: number
}

/**
 * Nothing is unpacked before size and dimensions are known to be within the rule.
 *
 * @returns what is wrong with an image given as base64 of a PNG, as the end of a sentence; undefined when nothing is.
 */
export function checkPng(base64: string, rule: ImageRule): string | undefined {
  if (base64 === '' || base64.length % 4 !== 0) return 'is not base64'
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > rule.bytes) return `is larger than ${rule.bytes / 1024} KiB`
  const png = readPng(bytes)
  if (!png) return 'is not a PNG image'
  return checkSize(png, rule) ?? (decodePng(png) ? undefined : 'is not a PNG image')
}

function checkSize(
  { width, height }: { width: number; height: number },
  rule: ImageRule,
): string | undefined {
  if (rule.squareFrom !== undefined) {
    const fits = width === height && width >= rule.squareFrom && width <= rule.width
    return fits ? undefined : `is not a square of ${rule.squareFrom} to ${rule.width} pixels`
  }
  if (width > rule.width || height > rule.height) {
    return `is larger than ${rule.width} × ${rule.height} pixels`
  }
  return undefined
}
