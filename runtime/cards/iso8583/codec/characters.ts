/** Characters and sizes that decoding and encoding share. */
import type { Dialect, FieldFormat, FieldKind } from './dialect.ts'

/** The characters of each kind, one by one, and their name in errors. */
export const KIND_PATTERNS: Readonly<
  Record<Exclude<FieldKind, 'b' | 'x+n'>, { pattern: RegExp; name: string }>
> = {
  n: { pattern: /\d/, name: 'digits' },
  z: { pattern: /[\d=]/, name: 'digits and a separator' },
  an: { pattern: /[A-Za-z0-9 ]/, name: 'letters, digits or spaces' },
  ans: { pattern: /[\x20-\x7e]/, name: 'printable ASCII characters' },
}

export const digitsPerByte = (lengths: Dialect['lengths']) => (lengths === 'ascii' ? 1 : 2)

/** Bytes of a length prefix. */
export function lengthBytes(lengths: Dialect['lengths'], prefix: FieldFormat['prefix']): number {
  return Math.ceil(prefix / digitsPerByte(lengths))
}
