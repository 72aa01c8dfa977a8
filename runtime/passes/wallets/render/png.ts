/**
 * Reads and writes PNG images with pngjs. This file parses the chunks first, because pngjs inflates an interlaced image
 * without a limit: 1 MB can become 1 GB.
 */
import { once } from 'node:events'
import { constants, crc32, inflateSync } from 'node:zlib'
import { PNG } from 'pngjs'

/** Pixels in rows from the top left; red, green, blue and alpha for each pixel. */
export interface Image {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
}

/** A parsed PNG whose pixels are not decompressed yet. */
export interface Png {
  readonly width: number
  readonly height: number
  /** Size of the decompressed pixels in bytes. */
  readonly unpacked: number
  /** The PNG with only the chunks that affect its pixels. Texts and profiles are left out; they are compressed too. */
  readonly bytes: Buffer
  readonly packed: Buffer
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Bytes of a chunk besides its data: length, type and checksum. */
const FRAME = 12

interface Chunk {
  readonly type: string
  readonly data: Buffer
  readonly whole: Buffer
}

/** Reads the chunks (PNG 3rd edition, 5.3) from header to end mark. Returns undefined if one is damaged or missing. */
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

/** Channels and allowed bit depths of each color type (PNG 3rd edition, 11.2.1). */
const COLORS: Readonly<Record<number, { readonly channels: number; readonly depths: readonly number[] }>> = {
  0: { channels: 1, depths: [1, 2, 4, 8, 16] },
  2: { channels: 3, depths: [8, 16] },
  3: { channels: 1, depths: [1, 2, 4, 8] },
  4: { channels: 2, depths: [8, 16] },
  6: { channels: 4, depths: [8, 16] },
}

/** The passes of an interlaced image: first column and row, and their steps (8.2). */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

/**
 * Returns the size of the decompressed pixels that a header announces, including one filter byte for each row. Returns
 * undefined if the header is invalid.
 */
function unpackedSize(header: Buffer): number | undefined {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const [depth, type, compression, filter, interlace] = header.subarray(8) as unknown as readonly number[]
  const color = COLORS[type!]
  if (width === 0 || height === 0 || !color?.depths.includes(depth!)) return undefined
  if (compression !== 0 || filter !== 0 || interlace! > 1) return undefined
  const sizeOf = (columns: number, rows: number) =>
    columns === 0 ? 0 : rows * (1 + Math.ceil((columns * color.channels * depth!) / 8))
  if (interlace === 0) return sizeOf(width, height)
  return ADAM7.reduce(
    (size, [x, y, stepX, stepY]) =>
      size + sizeOf(Math.ceil((width - x) / stepX), Math.max(0, Math.ceil((height - y) / stepY))),
    0,
  )
}

/**
 * Decompresses the pixels and reduces 16-bit channels to 8 bits. Returns undefined if the data does not match the
 * header. Never decompresses more than the header announces, so check width and height first.
 */
export function decodePng({ unpacked, packed, bytes }: Png): Image | undefined {
  try {
    if (inflateSync(packed, { maxOutputLength: unpacked }).length !== unpacked) return undefined
    const { width, height, data } = PNG.sync.read(bytes)
    return { width, height, pixels: data }
  } catch {
    return undefined // pngjs throws plain errors, without a type, for anything that it cannot read
  }
}

/**
 * Filter "Up" (9.2) stores each row as the difference from the row above. By default, pngjs tries all five filters for
 * each row.
 */
const FILTER_UP = 2

/**
 * Encodes a PNG with 8 bits for each channel, without alpha if all pixels are opaque. The same pixels produce the same
 * bytes.
 */
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
