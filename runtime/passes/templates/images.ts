import { decodePng, readPng } from '../wallets/render/png.ts'

/** Limits of an image, in pixels and bytes. */
export interface ImageRule {
  readonly width: number
  readonly height: number
  readonly bytes: number
  /** If present, the image must be a square with sides of at least this number of pixels. */
  readonly squareFrom?: number
}

/**
 * Checks a base64-encoded PNG. Compares its size and dimensions with the rule before it decompresses any pixels.
 *
 * @returns the problem as a sentence ending, such as "is not a PNG image"; undefined if the image is valid.
 */
export function checkPng(base64: string, rule: ImageRule): string | undefined {
  if (base64 === '' || base64.length % 4 !== 0) return 'is not valid base64'
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
