import type { BarcodeFormat } from './pass-state.ts'

/** Bars for more characters are wider than a phone, and finer than scanners read. */
const MAX_CODE_128 = 80

/**
 * What is wrong with a message for a barcode, as the end of a sentence; undefined when nothing is. Code 128 has printable ASCII only
 * (ISO/IEC 15417); QR, Aztec and PDF417 hold any text of 1 KiB, which is more than a message may have.
 */
export function barcodeIssue(format: BarcodeFormat, message: string): string | undefined {
  if (format !== 'code128') return undefined
  if (!/^[ -~]*$/.test(message)) return 'has characters that Code 128 does not have: it takes printable ASCII'
  return message.length > MAX_CODE_128 ? `is longer than ${MAX_CODE_128} characters, in Code 128` : undefined
}
