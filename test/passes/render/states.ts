/** States of passes to build from, and images. */
import { deflateSync } from 'node:zlib'
import {
  PASS_KINDS,
  type PassKind,
  type PassState,
} from '../../../runtime/passes/wallets/render/pass-state.ts'
import { encodePng } from '../../../runtime/passes/wallets/render/png.ts'

export const CHANGED = Date.parse('2026-06-01T12:00:00Z')

const FIELDS = Array.from({ length: 13 }, (_, index) => ({
  key: `field_${index}`,
  label: `Label ${index}`,
  value: `Value ${index}`,
}))

const FORMATS = ['qr', 'pdf417', 'aztec', 'code128'] as const

/** A state of each kind: with everything that a state may have in one or another of them. */
export function stateOf(kind: PassKind, change: Partial<PassState> = {}): PassState {
  const index = PASS_KINDS.indexOf(kind)
  const passId = `pass_${'0'.repeat(25)}${index}`
  return {
    place: { space: `ten_${'0'.repeat(26)}`, passId },
    templateId: `tpl_${'0'.repeat(26)}`,
    kind,
    organization: 'Harbour Coffee',
    name: `A ${kind}`,
    status: 'issued',
    brand: { background_color: '#1E3A5F', foreground_color: '#ffffff' },
    fields: FIELDS,
    barcode: { format: FORMATS[index % 4]!, message: `${passId.toUpperCase().slice(5)}ABCDEFGHJKMNP` },
    locations: [],
    holder: { name: null, email: null },
    expiresAt: null,
    changed: CHANGED,
    pageUrl: 'http://127.0.0.1:4010/p/abc',
    appleToken: 'a'.repeat(60),
    webServiceUrl: 'http://127.0.0.1:4010/apple',
    ...change,
  }
}

/** Text that wallets must not take for anything else. */
export const ODD_TEXTS = [
  { key: 'rtl', label: 'שם', value: 'مرحبا بالعالم' },
  { key: 'emoji', label: '🎟️', value: '👩‍👩‍👧‍👦 ☕️' },
  { key: 'html', label: '<b>x</b>', value: '<a href="https://evil.example">here</a>' },
  { key: 'url', label: 'a&b', value: 'https://evil.example/?a=1&b=2' },
  { key: 'long', label: 'Terms', value: 'Lorem ipsum dolor. '.repeat(10) },
  { key: 'lines', label: '"Quoted"', value: 'one\ntwo\u2028three' },
]

/** A picture of a colour that changes from corner to corner. */
export function picture(width: number, height: number, alpha = 255): Promise<Buffer> {
  const pixels = new Uint8Array(4 * width * height)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = [(x * 255) / width, (y * 255) / height, ((x ^ y) & 15) * 16, alpha].map(Math.floor)
      pixels.set(colour, 4 * (y * width + x))
    }
  }
  return encodePng({ width, height, pixels })
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

/** A chunk with a checksum of another making than the program's. */
export function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  let crc = 0xffffffff
  for (const byte of body) crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8)
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(~crc >>> 0, 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A PNG by hand: the header says so, whatever is in it. */
export function png(
  { width, height, depth = 8, type = 2, interlace = 0 }: Record<string, number>,
  unpacked: Uint8Array,
  between: readonly Buffer[] = [],
): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width!, 0)
  header.writeUInt32BE(height!, 4)
  header.set([depth, type, 0, 0, interlace], 8)
  const packed = chunk('IDAT', deflateSync(unpacked))
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', header),
    ...between,
    packed,
    chunk('IEND', Buffer.alloc(0)),
  ])
}
