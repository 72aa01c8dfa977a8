import type { BarcodeFormat } from './pass-state.ts'

/** Maximum message length for Code 128. Longer barcodes are wider than a phone screen, or too fine for scanners. */
const MAX_CODE_128 = 80

/**
 * Checks whether a barcode format can hold a message. Code 128 holds printable ASCII only (ISO/IEC 15417). QR, Aztec
 * and PDF417 hold any text of 1 KiB, and the schema limits messages to less.
 *
 * @returns the problem as a sentence ending; undefined if the message fits.
 */
export function barcodeIssue(format: BarcodeFormat, message: string): string | undefined {
  if (format !== 'code128') return undefined
  if (!/^[ -~]*$/.test(message)) return 'has characters that Code 128 cannot encode: use printable ASCII'
  return message.length > MAX_CODE_128
    ? `is longer than ${MAX_CODE_128} characters, the maximum for Code 128`
    : undefined
}
