/** Nested fields: formats that split the value of a field into named parts, and join them again. */
import type { IsoParts } from './message.ts'

/** Reports the first character that is wrong. Never returns. */
export type FailAt = (index: number, expected: string) => never

/** Both directions are exact inverses. A value of bytes is in hexadecimal digits. */
export interface PartsFormat {
  split(value: string, fail: FailAt): IsoParts
  /** Throws an error without values if the parts do not fit the format. */
  join(parts: IsoParts): string
  /** Names of the parts with a card number or a secret, which texts for people hide. */
  readonly secrets?: ReadonlySet<string>
}

function unfit(name: string, expected: string): never {
  throw new Error(`part ${name}: expected ${expected}`)
}

/** Parts with fixed lengths, one after the other. The last ones may be absent. */
export function positions(lengths: Readonly<Record<string, number>>): PartsFormat {
  const entries = Object.entries(lengths)
  return {
    split(value, fail) {
      const parts = new Map<string, string>()
      let index = 0
      for (const [name, length] of entries) {
        if (index === value.length) break
        if (index + length > value.length) fail(index, `${length} characters for part ${name}`)
        parts.set(name, value.slice(index, index + length))
        index += length
      }
      if (index < value.length) fail(index, 'the end of the field')
      return parts
    },
    join(parts) {
      let joined = ''
      for (const [name, length] of entries.slice(0, parts.size)) {
        const part = parts.get(name)
        if (part?.length !== length) unfit(name, `${length} characters, and no part left out before the last`)
        joined += part
      }
      if (parts.size > entries.length) unfit([...parts.keys()].join(), `only ${Object.keys(lengths).join()}`)
      return joined
    },
  }
}

/** Parts of one length, which are named 1, 2, 3 … */
export function groups(length: number): PartsFormat {
  return {
    split(value, fail) {
      const parts = new Map<string, string>()
      for (let index = 0; index < value.length; index += length) {
        if (index + length > value.length) fail(index, `${length} characters`)
        parts.set(String(parts.size + 1), value.slice(index, index + length))
      }
      return parts
    },
    join: (parts) =>
      [...parts].reduce((joined, [name, part], index) => {
        if (name !== String(index + 1) || part.length !== length)
          unfit(name, `${length} characters, in order`)
        return joined + part
      }, ''),
  }
}

/**
 * A first character (part `first`), then elements with two digits of identifier and two digits of length.
 */
export function elements(secrets: readonly string[]): PartsFormat {
  return {
    secrets: new Set(secrets),
    split(value, fail) {
      if (!/^[A-Z ]/.test(value)) fail(0, 'a letter or a space')
      const parts = new Map([['first', value.slice(0, 1)]])
      let index = 1
      while (index < value.length) {
        const head = value.slice(index, index + 4)
        if (!/^\d{4}$/.test(head)) fail(index, 'two digits of identifier and two digits of length')
        const end = index + 4 + Number(head.slice(2))
        if (end > value.length) fail(index + 2, `the length of the rest, at most ${value.length - index - 4}`)
        const id = head.slice(0, 2)
        if (parts.has(id)) fail(index, `one part ${id}`)
        parts.set(id, value.slice(index + 4, end))
        index = end
      }
      return parts
    },
    join: (parts) =>
      [...parts].reduce((joined, [name, part], index) => {
        if (index === 0) return name === 'first' ? part : unfit(name, 'the part first')
        if (!/^\d\d$/.test(name) || part.length > 99) unfit(name, 'two digits, and at most 99 characters')
        return joined + name + String(part.length).padStart(2, '0') + part
      }, ''),
  }
}

/** A part of a field that has a bitmap of its own: characters as digits in BCD, or as ASCII. */
export interface BitmappedPart {
  readonly kind: 'n' | 'an'
  readonly length: number
}

/** A bitmap of the given number of bytes, then the parts that it announces, by number. */
export function bitmapped(bytes: number, table: Readonly<Record<number, BitmappedPart>>): PartsFormat {
  const hexOf = ({ kind, length }: BitmappedPart) => (kind === 'n' ? length + (length % 2) : length * 2)
  return {
    split(value, fail) {
      const parts = new Map<string, string>()
      if (value.length < bytes * 2) fail(0, `a bitmap of ${bytes} bytes`)
      const bits = BigInt(`0x${value.slice(0, bytes * 2)}`)
      let index = bytes * 2
      for (let number = 1; number <= bytes * 8; number++) {
        if (((bits >> BigInt(bytes * 8 - number)) & 1n) === 0n) continue
        const part = table[number]
        if (!part) return fail((number - 1) >> 2, `no bit ${number}, which the dialect does not have`)
        const hex = value.slice(index, index + hexOf(part))
        if (hex.length < hexOf(part)) fail(index, `${hexOf(part) / 2} bytes for part ${number}`)
        const text = part.kind === 'n' ? hex.slice(hex.length - part.length) : latin(hex)
        const isValid = part.kind === 'n' ? /^\d+$/.test(hex) : /^[\x20-\x7e]+$/.test(text)
        if (!isValid || (hex.length > part.length && part.kind === 'n' && !hex.startsWith('0')))
          fail(index, part.kind === 'n' ? `${part.length} digits in BCD` : `${part.length} ASCII characters`)
        parts.set(String(number), text)
        index += hex.length
      }
      if (index < value.length) fail(index, 'the end of the field')
      return parts
    },
    join(parts) {
      let bits = 0n
      let joined = ''
      for (const [name, text] of [...parts].toSorted(([a], [b]) => Number(a) - Number(b))) {
        const part = table[Number(name)]
        if (part?.length !== text.length) return unfit(name, 'a part of the dialect, with its length')
        bits |= 1n << BigInt(bytes * 8 - Number(name))
        joined +=
          part.kind === 'n' ? text.padStart(hexOf(part), '0') : Buffer.from(text, 'latin1').toString('hex')
      }
      return (bits.toString(16).padStart(bytes * 2, '0') + joined).toUpperCase()
    },
  }
}

const latin = (hex: string) => Buffer.from(hex, 'hex').toString('latin1')
