import { crc32 } from 'node:zlib'

/** What an image may be: pixels and bytes. */
export interface ImageRule {
  readonly width: number
  readonly height: number
  readonly bytes: number
  /** Square, with sides of at least so many pixels. */
  readonly squareFrom?: number
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Length, type and checksum around a chunk's data. */
const FRAME = 12

/** @returns what is wrong with an image given as base64 of a PNG, as the end of a sentence; undefined when nothing is. */
export function checkPng(base64: string, rule: ImageRule): string | undefined {
  if (base64 === '' || base64.length % 4 !== 0) return 'is not base64'
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length > rule.bytes) return `is larger than ${rule.bytes / 1024} KiB`
  const size = readSize(bytes)
  if (!size) return 'is not a PNG image'
  if (rule.squareFrom !== undefined) {
    const fits = size.width === size.height && size.width >= rule.squareFrom && size.width <= rule.width
    return fits ? undefined : `is not a square of ${rule.squareFrom} to ${rule.width} pixels`
  }
  if (size.width > rule.width || size.height > rule.height) {
    return `is larger than ${rule.width} × ${rule.height} pixels`
  }
  return undefined
}

/** Walks the chunks (PNG 3rd edition, 5.3) from the header to the end mark; undefined where one is broken or missing. */
function readSize(bytes: Buffer): { width: number; height: number } | undefined {
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) return undefined
  let size: { width: number; height: number } | undefined
  let pixels = false
  for (let at = SIGNATURE.length; at + FRAME <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const end = at + FRAME + length
    if (end > bytes.length) return undefined
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined
    if (!size) {
      if (type !== 'IHDR' || length !== 13) return undefined
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) }
      if (size.width === 0 || size.height === 0) return undefined
    }
    if (type === 'IDAT') pixels = true
    if (type === 'IEND') return pixels && end === bytes.length ? size : undefined
    at = end
  }
  return undefined
}
