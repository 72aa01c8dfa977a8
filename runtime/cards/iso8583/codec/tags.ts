/** Nested fields of tags, lengths and values. Values are in hexadecimal digits. */
import type { IsoParts } from './message.ts'
import type { FailAt, PartsFormat } from './parts.ts'

interface Tag {
  readonly name: string
  readonly value: string
  /** Index after the value. */
  readonly end: number
}

/**
 * Reads a tag, a length and a value in BER-TLV (ISO/IEC 8825-1; EMV Book 3, annex B). Only the shortest form of a length
 * is accepted, so that a value has one encoding.
 */
function readBer(hex: string, start: number, fail: FailAt): Tag {
  const byte = (index: number, expected: string): number => {
    if (index + 2 > hex.length) fail(index, expected)
    return Number.parseInt(hex.slice(index, index + 2), 16)
  }
  let index = start + 2
  // Bits 1 to 5 all set: more bytes follow, as long as bit 8 is set. EMV has tags of at most three bytes.
  if ((byte(start, 'a tag') & 0x1f) === 0x1f) {
    while ((byte(index, 'the next byte of the tag') & 0x80) !== 0) index += 2
    index += 2
  }
  if (index - start > 6) fail(start, 'a tag of at most three bytes')
  const name = hex.slice(start, index)
  const at = index
  let length = byte(index, `the length of tag ${name}`)
  index += 2
  if (length > 0x7f) {
    const more = length & 0x7f
    if (more < 1 || more > 2) fail(at, `a length of tag ${name} in at most two more bytes`)
    byte(index + (more - 1) * 2, `the length of tag ${name}`)
    length = Number.parseInt(hex.slice(index, index + more * 2), 16)
    index += more * 2
    if (length <= (more === 1 ? 0x7f : 0xff)) fail(at, `the shortest form of the length of tag ${name}`)
  }
  const end = index + length * 2
  if (end > hex.length) fail(at, `the length of tag ${name}, at most ${(hex.length - index) / 2} bytes`)
  return { name, value: hex.slice(index, end), end }
}

function lengthOf(value: string): string {
  const length = value.length / 2
  const hex = length.toString(16).toUpperCase()
  if (length <= 0x7f) return hex.padStart(2, '0')
  return length <= 0xff ? `81${hex}` : `82${hex.padStart(4, '0')}`
}

/**
 * EMV data: tags in BER-TLV, in the order of the message. The tags with a card number are 57 (track 2) and 5A; 5F20 has
 * the cardholder's name, 9F1F and 9F20 the rest of a track. A template (bit 6 of the first byte) may contain them.
 */
export const emvTags: PartsFormat = {
  secrets: new Set(['57', '5A', '56', '5F20', '5F24', '9F1F', '9F20', '9F6B']),
  split(value, fail) {
    const parts = new Map<string, string>()
    for (let index = 0; index < value.length; ) {
      const tag = readBer(value, index, fail)
      if (parts.has(tag.name)) fail(index, `one tag ${tag.name}`)
      parts.set(tag.name, tag.value)
      index = tag.end
    }
    return parts
  },
  join: (parts) => [...parts].map(([name, value]) => name + lengthOf(value) + value).join(''),
}

/** Whether an EMV tag contains other tags. */
export const isTemplate = (tag: string) => (Number.parseInt(tag.slice(0, 2), 16) & 0x20) !== 0

/**
 * Data sets: one byte of identifier, two bytes of length, then tags and lengths of one byte each. Parts are named by data
 * set and tag, such as `68.03`. An empty data set would have no part, so it is refused.
 */
export function dataSets(secrets: readonly string[]): PartsFormat {
  return {
    secrets: new Set(secrets),
    split(value, fail) {
      const parts = new Map<string, string>()
      const seen = new Set<string>()
      for (let index = 0; index < value.length; ) {
        const id = value.slice(index, index + 2)
        const end = index + 6 + Number.parseInt(value.slice(index + 2, index + 6), 16) * 2
        if (index + 6 > value.length || end > value.length || end === index + 6)
          fail(index, 'an identifier, and two bytes of length that the field has')
        if (seen.has(id)) fail(index, `one data set ${id}`)
        seen.add(id)
        index += 6
        while (index < end) {
          const next = index + 4 + Number.parseInt(value.slice(index + 2, index + 4), 16) * 2
          const name = `${id}.${value.slice(index, index + 2)}`
          if (index + 4 > end || next > end) fail(index, `a tag and a length within data set ${id}`)
          if (parts.has(name)) fail(index, `one part ${name}`)
          parts.set(name, value.slice(index + 4, next))
          index = next
        }
      }
      return parts
    },
    join(parts: IsoParts) {
      const sets = Map.groupBy(parts, ([name]) => name.slice(0, 2))
      return [...sets]
        .map(([id, entries]) => {
          const body = entries.map(([name, value]) => name.slice(3) + byteOf(value) + value).join('')
          return id + (body.length / 2).toString(16).toUpperCase().padStart(4, '0') + body
        })
        .join('')
    },
  }
}

function byteOf(value: string): string {
  if (value.length > 510) throw new Error('a part of a data set has at most 255 bytes')
  return (value.length / 2).toString(16).toUpperCase().padStart(2, '0')
}
