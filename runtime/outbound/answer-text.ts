import { StringDecoder } from 'node:string_decoder'

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
