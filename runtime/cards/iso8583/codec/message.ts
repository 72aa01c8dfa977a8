/** ISO 8583 messages in memory. */

/**
 * The value of a field: text, or the parts of a nested field by their names. Digits and text are as in the
 * specification, with padding; bytes are upper-case hexadecimal digits.
 */
export type IsoValue = string | IsoParts
export type IsoParts = ReadonlyMap<string, string>

export interface IsoMessage {
  /** Message type indicator: version, class, function and origin, such as `0100`. */
  readonly mti: string
  /** Values by field number, without the bitmaps. */
  readonly fields: ReadonlyMap<number, IsoValue>
}

/**
 * Returns the value of a field (`37`) or of a part of a nested field (`62.2`), or undefined if the message does not
 * have it.
 */
export function valueAt(message: IsoMessage, path: string): string | undefined {
  const [field, ...part] = path.split('.')
  const value = message.fields.get(Number(field))
  if (value === undefined || typeof value === 'string') return part.length === 0 ? value : undefined
  return value.get(part.join('.'))
}
