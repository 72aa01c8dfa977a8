/** Facts about JSON text that its parsed value does not show. */
export interface JsonScan {
  /**
   * Number of colons, including escaped ones. In text without repeated members, each belongs to a member or is part of
   * a name or string. For each repeated member, JSON.parse drops at least the colon after its name.
   */
  readonly colons: number
  /** Whether a digit is followed by a point or an exponent anywhere, so that a number may be written as a fraction. */
  readonly hasFractions: boolean
}

const COLON = 0x3a
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39

/** Lookup table of relevant bytes. Most bytes are not relevant, and a body may hold a million. */
const WATCHED = new Uint8Array(256)
for (const character of ':\\.eE') WATCHED[character.charCodeAt(0)] = 1

/**
 * Scans valid JSON in one pass over its bytes. A backslash occurs only in strings, and no relevant byte occurs within a
 * UTF-8 sequence.
 */
export function scanJson(bytes: Buffer): JsonScan {
  const { length } = bytes
  let colons = 0
  let hasFractions = false
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at]!
    if (WATCHED[byte] === 0) continue
    if (byte === COLON) colons += 1
    else if (byte === BACKSLASH) {
      if (isColonEscape(bytes, at + 1)) colons += 1
      at += 1 // skips the escaped byte, which may also be a backslash
    } else if (!hasFractions) {
      const before = bytes[at - 1]!
      hasFractions = before >= ZERO && before <= NINE
    }
  }
  return { colons, hasFractions }
}

const U003 = [0x75, 0x30, 0x30, 0x33]
const SMALL_A = 0x61
const TO_SMALL = 0x20

/** Whether the bytes are `u003a`, the escape of a colon. */
function isColonEscape(bytes: Buffer, from: number): boolean {
  for (let at = 0; at < U003.length; at += 1) if (bytes[from + at] !== U003[at]) return false
  return (bytes[from + U003.length]! | TO_SMALL) === SMALL_A
}
