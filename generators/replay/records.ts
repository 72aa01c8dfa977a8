/** Splits recorded traffic into records while it is read: lines of JSON, or the entries of a HAR file. */

/** A record as bytes, or the reason why it has none. */
export type SplitRecord = Buffer | { readonly fault: string }

/** @param at number of the line or entry, from 1. */
export type OnRecord = (record: SplitRecord, at: number) => void

interface RecordSplitter {
  push(chunk: Buffer): void
  /** Ends the input, which may end within a record. */
  end(): void
}

/** Bytes of a record above which it is skipped, to bound memory. */
const MAX_RECORD = 64 * 1024 * 1024

const TOO_LARGE = { fault: 'is larger than 64 MiB' }

/** Bytes of a record that arrive in several chunks. */
function createPieces() {
  let pieces: Buffer[] = []
  let size = 0
  return {
    add(piece: Buffer) {
      size += piece.length
      if (size <= MAX_RECORD) pieces.push(piece)
      else pieces = []
    },
    isEmpty: () => size === 0,
    take(last: Buffer): SplitRecord {
      const all = pieces.length === 0 && size === 0 ? last : Buffer.concat([...pieces, last])
      const isLarge = size + last.length > MAX_RECORD
      pieces = []
      size = 0
      return isLarge ? TOO_LARGE : all
    },
  }
}

const NEWLINE = 10

/** Splits lines. Empty lines are not records. */
export function splitLines(onRecord: OnRecord): RecordSplitter {
  const pieces = createPieces()
  let line = 0
  const emit = (last: Buffer) => {
    line++
    const record = pieces.take(last)
    if (!Buffer.isBuffer(record) || !isBlank(record)) onRecord(record, line)
  }
  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        emit(chunk.subarray(start, end))
        start = end + 1
      }
      // The rest is copied, so that a short one does not keep the whole chunk in memory.
      if (start < chunk.length) pieces.add(Buffer.from(chunk.subarray(start)))
    },
    end() {
      if (!pieces.isEmpty()) emit(Buffer.alloc(0))
    },
  }
}

const isBlank = (record: Buffer): boolean => record.length < 3 && record.toString().trim() === ''

const QUOTE = 0x22
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Names on the way to the entries of a HAR file (HAR 1.2), and the depth of an entry. */
const WAY = ['log', 'entries']
const ENTRY_DEPTH = WAY.length + 1

/**
 * Splits a HAR file, which is one JSON document and may be larger than a string can be. Only strings and brackets are read; each
 * entry is parsed on its own.
 */
export function splitHar(onRecord: OnRecord): RecordSplitter {
  const pieces = createPieces()
  let depth = 0
  let inString = false
  let isEscaped = false
  /** Last string at each depth above the entries: the name of the member that follows. */
  const names: string[] = []
  let text: number[] = []
  let inEntries = false
  let found = false
  let inEntry = false
  let entry = 0
  /** Returns the offset of the quote that ends a string, or the length of the chunk. Most bytes of an entry are in strings. */
  const endOfString = (chunk: Buffer, from: number): number => {
    const { length } = chunk
    let at = from
    if (isEscaped && at < length) at++
    isEscaped = false
    while (at < length) {
      const byte = chunk[at]
      if (byte === QUOTE) break
      at += byte === BACKSLASH ? 2 : 1
    }
    isEscaped = at > length
    return Math.min(at, length)
  }
  return {
    push(chunk) {
      let start = 0
      for (let at = 0; at < chunk.length; at++) {
        if (inString && inEntries) {
          at = endOfString(chunk, at)
          if (at >= chunk.length) break
          inString = false
          continue
        }
        const byte = chunk[at]!
        if (inString) {
          if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) {
            inString = false
            names[depth] = String.fromCharCode(...text)
          } else if (text.length < 10) text.push(byte)
          continue
        }
        switch (byte) {
          case QUOTE:
            inString = true
            text = []
            break
          case OPEN:
          case OPEN_LIST:
            if (inEntries && depth === ENTRY_DEPTH) {
              inEntry = true
              start = at
            }
            depth++
            if (byte === OPEN_LIST && depth === ENTRY_DEPTH && names[1] === WAY[0] && names[2] === WAY[1])
              inEntries = found = true
            break
          case CLOSE:
          case CLOSE_LIST:
            depth--
            if (inEntry && depth === ENTRY_DEPTH) {
              inEntry = false
              onRecord(pieces.take(chunk.subarray(start, at + 1)), ++entry)
            }
            if (depth < ENTRY_DEPTH) inEntries = false
            break
        }
      }
      if (inEntry) pieces.add(Buffer.from(chunk.subarray(start)))
    },
    end() {
      if (inEntry) onRecord({ fault: 'is not complete: the file ends' }, ++entry)
      else if (!found) onRecord({ fault: 'has no log.entries: this is not a HAR file' }, 0)
    },
  }
}
