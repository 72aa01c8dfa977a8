import { StringDecoder } from 'node:string_decoder'
import type { Failure } from './failures.ts'

/** Bytes of an answer's body after which nothing more is read; the status counts. */
const MAX_BODY_BYTES = 65_536

/** Of one header block, or of all trailers. */
const MAX_HEADER_BYTES = 16_384

/** Of the line before a chunk, extensions included. */
const MAX_CHUNK_LINE_BYTES = 1024

/** Interim answers (RFC 9110 §15.2), none of which says anything to us. */
const MAX_INTERIM = 16

const TOO_LONG: Failure = { kind: 'response', error: 'the headers of the answer are too long' }
const NOT_HTTP: Failure = { kind: 'response', error: 'what came back is not HTTP' }
const ENDLESS: Failure = { kind: 'response', error: 'interim answers came without end' }
const NO_ANSWER: Failure = { kind: 'response', error: 'what came back is no answer to this request' }

const BEGINNING = 'HTTP/1.'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FOLDED = /\r\n[ \t]+/g
/** Parsers differ on what ends a line without both of its characters (RFC 9112 §2.2). */
const BROKEN_LINE = /\0|\r(?!\n)|(?<!\r)\n/
const CHUNK_LINE = /^([0-9a-f]{1,8})[ \t]*(?:;|$)/i
const TIMEOUT = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,6})/i

/** What is read next: a header block, so many bytes, a chunk's line, its bytes, its end, trailers, all until the end; nothing. */
type Part = 'head' | 'counted' | 'chunk line' | 'chunk' | 'chunk end' | 'trailers' | 'endless' | 'over'

/** `more`: goes on. `complete`: the answer has ended. `cut`: more of it comes, and is not wanted. */
export type Step = 'more' | 'complete' | 'cut'

/**
 * Reads one answer to a request from the bytes of a connection (RFC 9112 §6), strictly: what two parsers could read as answers of
 * different lengths is none.
 */
export class AnswerReader {
  status = 0
  /** Seconds for which the other end keeps the connection; 0: no longer than this answer. */
  keptSeconds = 0
  /** What the other end says of when to ask again. */
  readonly hints: { retryAfter?: string; cacheControl?: string } = {}
  #part: Part = 'head'
  #rest: Buffer | undefined
  #begun = false
  #interim = 0
  /** Bytes until the end of the body or chunk. */
  #left = 0
  #read = 0
  readonly #chunks: Buffer[] = []

  /** Whether anything has come. */
  get begun(): boolean {
    return this.#begun
  }

  /** Whether the final answer's headers have come. */
  get answered(): boolean {
    return this.#part !== 'head'
  }

  /** Of the body, as far as it was read. */
  get body(): string {
    return answerText(this.#chunks)
  }

  read(chunk: Buffer): Step | Failure {
    this.#begun = true
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    let at = 0
    while (this.#part !== 'over') {
      if (this.#part === 'head' || this.#part === 'chunk line' || this.#part === 'trailers') {
        const next = this.#readText(bytes, at)
        if (typeof next !== 'number') return next
        at = next
      } else if (this.#part === 'chunk end') {
        if (bytes.length - at < 2) return this.#keep(bytes, at)
        if (bytes.toString('latin1', at, at + 2) !== '\r\n') return NOT_HTTP
        at += 2
        this.#part = 'chunk line'
      } else {
        if (at === bytes.length) return 'more'
        at = this.#readBody(bytes, at)
      }
      if (this.#read >= MAX_BODY_BYTES) return 'cut'
    }
    // Whatever comes behind an answer was not asked for.
    if (at < bytes.length) this.keptSeconds = 0
    return 'complete'
  }

  /** The connection has ended. */
  end(): 'complete' | 'incomplete' {
    return this.#part === 'endless' ? 'complete' : 'incomplete'
  }

  #keep(bytes: Buffer, at: number): 'more' {
    this.#rest = bytes.subarray(at)
    return 'more'
  }

  /** Reads a header block or a line; gives where the next part begins. */
  #readText(bytes: Buffer, at: number): number | Step | Failure {
    const isHead = this.#part === 'head'
    const end = bytes.indexOf(isHead ? '\r\n\r\n' : '\r\n', at)
    const length = (end < 0 ? bytes.length : end) - at
    if (isHead && !BEGINNING.startsWith(bytes.toString('latin1', at, at + BEGINNING.length))) return NOT_HTTP
    if (length > (this.#part === 'chunk line' ? MAX_CHUNK_LINE_BYTES : MAX_HEADER_BYTES)) {
      return isHead ? TOO_LONG : NOT_HTTP
    }
    if (end < 0) return this.#keep(bytes, at)
    const text = bytes.toString('latin1', at, end)
    if (isHead) return this.#readHead(text) ?? end + 4
    this.#read += length + 2 // lines without end are a body without end
    if (this.#part === 'chunk line') {
      const size = CHUNK_LINE.exec(text)
      if (!size) return NOT_HTTP
      this.#left = Number.parseInt(size[1]!, 16)
      this.#part = this.#left === 0 ? 'trailers' : 'chunk'
    } else if (text === '') {
      this.#part = 'over'
    }
    return end + 2
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = this.#part === 'endless' ? bytes.length : Math.min(bytes.length, at + this.#left)
    this.#chunks.push(bytes.subarray(at, end))
    this.#read += end - at
    this.#left -= end - at
    if (this.#left === 0 && this.#part !== 'endless') {
      this.#part = this.#part === 'chunk' ? 'chunk end' : 'over'
    }
    return end
  }

  #readHead(text: string): Failure | undefined {
    const unfolded = text.includes('\r\n ') || text.includes('\r\n\t') ? text.replace(FOLDED, ' ') : text
    const [first = '', ...fields] = unfolded.split('\r\n')
    const status = STATUS_LINE.exec(first)
    if (!status || BROKEN_LINE.test(unfolded)) return NOT_HTTP
    let length: string | undefined
    let [codings, connection, kept] = ['', '', '']
    for (const field of fields) {
      const colon = field.indexOf(':')
      const name = field.slice(0, Math.max(0, colon))
      if (!FIELD_NAME.test(name)) return NOT_HTTP
      const value = () => field.slice(colon + 1).trim()
      switch (name.toLowerCase()) {
        case 'content-length':
          if (length !== undefined) return NOT_HTTP
          length = value()
          break
        case 'transfer-encoding':
          codings += `,${value().toLowerCase()}`
          break
        case 'connection':
          connection += `,${value().toLowerCase()}`
          break
        case 'keep-alive':
          kept = value()
          break
        case 'retry-after':
          this.hints.retryAfter = value()
          break
        case 'cache-control':
          this.hints.cacheControl = value()
      }
    }
    this.status = Number(status[2])
    if (this.status < 200) return this.#passOver()
    const hasNone = this.status === 204 || this.status === 304
    if (codings !== '' && length !== undefined) return NOT_HTTP
    if (length !== undefined && !/^\d{1,15}$/.test(length)) return NOT_HTTP
    if (hasNone || Number(length) === 0) this.#part = 'over'
    else if (length !== undefined) this.#part = 'counted'
    else this.#part = /,\s*chunked$/.test(codings) ? 'chunk line' : 'endless'
    this.#left = Number(length ?? 0)
    const isKept = status[1] === '1' ? !/,\s*close\b/.test(connection) : /,\s*keep-alive\b/.test(connection)
    if (isKept && this.#part !== 'endless') this.keptSeconds = Number(TIMEOUT.exec(kept)?.[1] ?? Infinity)
    return undefined
  }

  #passOver(): Failure | undefined {
    this.#interim += 1
    if (this.status === 101) return NO_ANSWER
    return this.#interim > MAX_INTERIM ? ENDLESS : undefined
  }
}

/** Bytes of an answer that are kept to be shown. */
const SHOWN_BYTES = 4096

/** PostgreSQL's text cannot hold it. */
const NUL = '\0'
const REPLACEMENT = '\uFFFD'

/**
 * The first 4 KiB of an answer, whatever they are, as text: what is not UTF-8 is U+FFFD, and so is NUL. A character that the cut
 * goes through is left out.
 *
 * @param chunks all that was read, or at least its first 4 KiB
 */
export function answerText(chunks: readonly Buffer[]): string {
  const [first, ...others] = chunks
  if (!first) return ''
  const bytes = others.length === 0 ? first : Buffer.concat(chunks)
  const text =
    bytes.length <= SHOWN_BYTES
      ? bytes.toString('utf8')
      : new StringDecoder('utf8').write(bytes.subarray(0, SHOWN_BYTES))
  return text.includes(NUL) ? text.replaceAll(NUL, REPLACEMENT) : text
}
