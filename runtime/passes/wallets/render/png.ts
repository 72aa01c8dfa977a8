/**
 * PNG images. pngjs decodes and encodes. The chunks are read here first, because pngjs inflates an interlaced image without a limit:
 * 1 MB can become 1 GB.
 */
import { once } from 'node:events'
import { constants, crc32, inflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

/** Pixels from the top left, row by row: red, green, blue and alpha of each. */
export interface Image {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** A PNG of which nothing has been unpacked yet. */
export interface Png {
  readonly width: number
  readonly height: number
  /** What its pixels take when unpacked. */
  readonly unpacked: number
  /** All that its pixels follow from: texts and profiles, which are packed too, are left out. */
  readonly bytes: Buffer
  readonly packed: Buffer
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Length, type and checksum around a chunk's data. */
const FRAME = 12

interface Chunk {
  readonly type: string
  readonly data: Buffer
  readonly whole: Buffer
}

/** Reads the chunks (PNG 3rd edition, 5.3) from the header to the end mark; undefined where one is broken or missing. */
export function readPng(bytes: Buffer): Png | undefined {
  const chunks = readChunks(bytes)
  const [header] = chunks ?? []
  if (!chunks || header?.type !== 'IHDR' || header.data.length !== 13) return undefined
  const unpacked = unpackedSize(header.data)
  const needed = chunks.filter(({ type }) => NEEDED.has(type))
  const packed = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data))
  if (unpacked === undefined || packed.length === 0) return undefined
  return {
    width: header.data.readUInt32BE(0),
    height: header.data.readUInt32BE(4),
    unpacked,
    bytes: Buffer.concat([SIGNATURE, ...needed.map(({ whole }) => whole)]),
    packed,
  }
}

const NEEDED = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])

function readChunks(bytes: Buffer): Chunk[] | undefined {
  if (!bytes.subarray(0, 8).equals(SIGNATURE)) return undefined
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at + FRAME <= bytes.length; ) {
    const end = at + FRAME + bytes.readUInt32BE(at)
    if (end > bytes.length) return undefined
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined
    const type = bytes.toString('latin1', at + 4, at + 8)
    chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    if (type === 'IEND') return end === bytes.length ? chunks : undefined
    at = end
  }
  return undefined
}

/** Depths of each colour type, and its channels (PNG 3rd edition, 11.2.1). */
const COLOURS: Readonly<Record<number, { readonly channels: number; readonly depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
}

/** The passes of an interlaced image: first column and row, and the steps from one to the next (8.2). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/** Bytes of the pixels that a header announces, with a byte of filter for each row; undefined for a header that there is not. */
function unpackedSize(header: Buffer): number | undefined {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, type, compression, filter, interlace] = header.subarray(8) as unknown as readonly number[]
  const colour = COLOURS[type!]
  if (width === 0 || height === 0 || !colour?.depths.includes(depth!)) return undefined
  if (compression !== 0 || filter !== 0 || interlace! > 1) return undefined
  const sizeOf = (columns: number, rows: number) =>
    columns === 0 ? 0 : rows * (1 + Math.ceil((columns * colour.channels * depth!) / 8))
  if (interlace === 0) return sizeOf(width, height)
  return ADAM7.reduce(
    (size, [x, y, stepX, stepY]) =>
      size + sizeOf(Math.ceil((width - x) / stepX), Math.max(0, Math.ceil((height - y) / stepY))),
    0,
  )
}

/**
 * The pixels, sixteen bits cut to eight; undefined where they are not what the header says. Never unpacks more than that, so
 * check width and height first.
 */
export function decodePng({ unpacked, packed, bytes }: Png): Image | undefined {
  try {
    if (inflateSync(packed, { maxOutputLength: unpacked }).length !== unpacked) return undefined
    const { width, height, data } = PNG.sync.read(bytes)
    return { width, height, pixels: data }
  } catch {
    return undefined // pngjs throws errors of no type of its own for whatever it cannot read
  }
}

/** Filter "Up" (9.2): each row as the difference from the row above it. pngjs tries all five for each row by default. */
const FILTER_UP = 2

/** A PNG of eight bits a channel, without alpha if all pixels are opaque: the same bytes for the same pixels. */
export async function encodePng({ width, height, pixels }: Image): Promise<Buffer> {
  const isOpaque = pixels.every((value, index) => index % 4 !== 3 || value === 255)
  const png = new PNG({
    width,
    height,
    colorType: isOpaque ? 2 : 6,
    filterType: FILTER_UP,
    deflateStrategy: constants.Z_DEFAULT_STRATEGY,
  })
  png.data = Buffer.from(pixels)
  const chunks: Buffer[] = []
  png.pack().on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(png, 'end')
  return Buffer.concat(chunks)
}
