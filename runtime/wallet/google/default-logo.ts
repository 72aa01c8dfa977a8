import { crc32, deflateSync } from 'node:zlib'

/** Google shows logos in a circle and wants them this large at least (Google Wallet, "Brand guidelines"). */
const SIZE = 660

/** The part of the middle that is drawn. */
const MARK = 1 / 3

/** A square in one colour with a smaller one in another, as PNG: the logo of templates that have none. Colours as `#RRGGBB`. */
export function drawDefaultLogo(background: string, foreground: string): Buffer {
  const line = (from: number) =>
    Buffer.from([0, ...Array.from({ length: SIZE }, (_, x) => (isMark(x, from) ? 1 : 0))])
  const rows = Array.from({ length: SIZE }, (_, y) => line(isMiddle(y) ? 1 : 0))
  const head = Buffer.alloc(13)
  head.writeUInt32BE(SIZE, 0)
  head.writeUInt32BE(SIZE, 4)
  head.set([8, 3, 0, 0, 0], 8) // 8 bits, palette
  const palette = Buffer.concat([background, foreground].map((color) => Buffer.from(color.slice(1), 'hex')))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function isMiddle(at: number): boolean {
  return Math.abs(at - SIZE / 2) < (SIZE * MARK) / 2
}

function isMark(x: number, isMarked: number): boolean {
  return isMarked === 1 && isMiddle(x)
}

/** RFC 2083, 3.2. */
function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const around = Buffer.alloc(8)
  around.writeUInt32BE(data.length, 0)
  around.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)])
}
