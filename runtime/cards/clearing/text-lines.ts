/** Splits a stream of bytes into lines. */

/** Bytes of the longest line that is read. */
const MAX_LINE = 65_536

const NEWLINE = 0x0a

/** Bytes of a line, the newline included. A line that is too long comes in several parts, and only the last has `issue`. */
export interface TextLine {
  readonly bytes: Buffer
  /** Without the newline. */
  readonly text?: string
  /** Why the line has no text. */
  readonly issue?: string
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Buffer): TextLine {
  try {
    return { bytes, text: decoder.decode(bytes).replace(/\r?\n$/, '') }
  } catch {
    return { bytes, issue: 'is not UTF-8' }
  }
}

/** Reads lines in bounded memory. */
export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<TextLine> {
  let rest: Buffer = Buffer.alloc(0)
  let isCut = false
  const lineOf = (bytes: Buffer): TextLine => {
    if (!isCut && bytes.length <= MAX_LINE) return decode(bytes)
    isCut = false
    return { bytes, issue: `is longer than ${MAX_LINE} bytes` }
  }
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield lineOf(bytes.subarray(start, end + 1))
      start = end + 1
    }
    rest = bytes.subarray(start)
    if (rest.length <= MAX_LINE) continue
    isCut = true
    yield { bytes: rest }
    rest = Buffer.alloc(0)
  }
  if (rest.length > 0 || isCut) yield lineOf(rest)
}
