/** Finds the offsets of a JSON text's nodes in one pass over its characters, without building values. */
import { escapePointer } from './escape-pointer.ts'

const NO_JSON = new Error('no JSON')

/** White space between two tokens. */
const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const OTHER = /[-+.\w]+/y

/**
 * Returns, by pointer, the offset of each member's name, or of the list item itself; undefined if the text is not
 * JSON.
 */
export function scanJson(text: string): Map<string, number> | undefined {
  const offsets = new Map<string, number>()
  let at = 0
  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = at
    if (!pattern.test(text)) throw NO_JSON
    at = pattern.lastIndex
  }
  const next = (): string => {
    skip(SPACE)
    return text[at] ?? ''
  }
  const member = (pointer: string): string => {
    if (next() !== '"') throw NO_JSON
    const start = at
    skip(STRING)
    const written = text.slice(start + 1, at - 1)
    const name = written.includes('\\') ? String(JSON.parse(text.slice(start, at))) : written
    const inside = `${pointer}/${escapePointer(name)}`
    offsets.set(inside, start)
    if (next() !== ':') throw NO_JSON
    at++
    next()
    return inside
  }
  const item = (pointer: string, index: number): string => {
    const inside = `${pointer}/${index}`
    next()
    offsets.set(inside, at)
    return inside
  }
  const value = (pointer: string): void => {
    const open = text[at]
    if (open !== '{' && open !== '[') return skip(open === '"' ? STRING : OTHER)
    const close = open === '{' ? '}' : ']'
    at++
    if (next() !== close) {
      for (let index = 0; ; index++) {
        value(open === '{' ? member(pointer) : item(pointer, index))
        if (next() === close) break
        if (text[at] !== ',') throw NO_JSON
        at++
      }
    }
    at++
  }
  try {
    next()
    offsets.set('', at)
    value('')
    return next() === '' ? offsets : undefined
  } catch (error) {
    if (error === NO_JSON || error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
}
