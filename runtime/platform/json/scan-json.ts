/** What JSON text says that its value does not. */
export interface JsonScan {
  /**
   * Colons, escaped ones too. In text without repeated members each belongs to a member or stands within a name or a
   * string; JSON.parse drops all but the last of repeated members, and with each at least the colon behind its name.
   */
  readonly colons: number
  /** Whether a digit is followed by a point or an exponent somewhere: a number may be spelt as a fraction. */
  readonly hasFractions: boolean
}

const COLON = 0x3a
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39

/** The bytes that are looked at; a table because most are not, and a body may hold a million. */
const WATCHED = new Uint8Array(256)
for (const character of ':\\.eE') WATCHED[character.charCodeAt(0)] = 1

/** Reads valid JSON once, byte by byte: a backslash occurs only in its strings, and none of these bytes within a UTF-8 sequence. */
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
      at += 1 // whatever is escaped, another backslash too
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

/** Whether `u003a` follows. */
function isColonEscape(bytes: Buffer, from: number): boolean {
  for (let at = 0; at < U003.length; at += 1) if (bytes[from + at] !== U003[at]) return false
  return (bytes[from + U003.length]! | TO_SMALL) === SMALL_A
}
