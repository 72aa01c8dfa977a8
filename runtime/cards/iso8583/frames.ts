/** Frames of a byte stream: a length, then a message. */
import type { Dialect } from './codec/dialect.ts'

/** Larger than every message of a dialect. A length above it means that the stream is not one of frames. */
const MAX_MESSAGE = 8192

interface Prefix {
  readonly bytes: number
  write(length: number): Buffer
  /** Returns undefined if the bytes are not a length. */
  read(bytes: Buffer): number | undefined
}

const PREFIXES: Readonly<Record<Dialect['frame'], Prefix>> = {
  binary2: {
    bytes: 2,
    write: (length) => Buffer.of(length >> 8, length & 0xff),
    read: (bytes) => bytes.readUInt16BE(0),
  },
  ascii4: {
    bytes: 4,
    write: (length) => Buffer.from(String(length).padStart(4, '0'), 'latin1'),
    read(bytes) {
      const digits = bytes.toString('latin1', 0, 4)
      return /^\d{4}$/.test(digits) ? Number(digits) : undefined
    },
  },
}

/** The stream is not one of frames, and where the next one starts is unknown. */
export class FrameError extends Error {
  override name = 'FrameError'
}

export function writeFrame(frame: Dialect['frame'], message: Buffer): Buffer {
  return Buffer.concat([PREFIXES[frame].write(message.length), message])
}

export interface FrameReader {
  push(chunk: Buffer): void
  /**
   * Returns the next whole message. A frame without a message keeps a connection open and is skipped.
   *
   * @throws FrameError if a length is not one, or is above 8192 bytes.
   */
  next(): Buffer | undefined
  /** Whether part of a frame has arrived. */
  isPartial(): boolean
}

/** Creates a reader, which holds at most one message and what arrived with its end. */
export function createFrameReader(frame: Dialect['frame']): FrameReader {
  const prefix = PREFIXES[frame]
  let pending: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    },
    next() {
      while (pending.length >= prefix.bytes) {
        const length = prefix.read(pending)
        if (length === undefined || length > MAX_MESSAGE)
          throw new FrameError(
            `expected a length of at most ${MAX_MESSAGE} in ${prefix.bytes} bytes (${frame})`,
          )
        const end = prefix.bytes + length
        if (pending.length < end) return undefined
        const message = pending.subarray(prefix.bytes, end)
        pending = pending.subarray(end)
        if (length > 0) return message
      }
      return undefined
    },
    isPartial: () => pending.length > 0,
  }
}
