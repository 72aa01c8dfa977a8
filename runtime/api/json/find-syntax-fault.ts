/** Finds the position at which a text stops being valid JSON (RFC 8259). Called only for invalid texts. */

export interface SyntaxFault {
  /** Line number from 1. Lines end with a line feed. */
  readonly line: number
  /** Column number from 1, in UTF-16 code units. */
  readonly column: number
  /** The syntax that was expected at that position. */
  readonly expected: string
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** Characters that a string may contain without an escape: from space upward, except quote and backslash. */
const PLAIN = /[ !#-[\]-\uffff]+/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

class FoundSyntaxFault extends Error {
  readonly at: number
  constructor(at: number, expected: string) {
    super(expected)
    this.at = at
  }
}

/** @returns the first syntax error; undefined if the text is valid JSON. */
export function findSyntaxFault(text: string): SyntaxFault | undefined {
  try {
    walk(text)
    return undefined
  } catch (error) {
    if (!(error instanceof FoundSyntaxFault)) throw error
    const before = text.slice(0, error.at)
    const column = error.at - before.lastIndexOf('\n')
    return { line: before.split('\n').length, column, expected: error.message }
  }
}

/** Not recursive, because a body may be nested as deep as it is long. */
function walk(text: string): void {
  const ends: ('}' | ']')[] = []
  let isValueNext = true
  let at = 0
  for (;;) {
    at = skip(SPACE, text, at)
    if (isValueNext) {
      const end = ENDS[text[at] ?? '']
      if (end === undefined) {
        at = skipScalar(text, at)
        isValueNext = false
        continue
      }
      ends.push(end)
      at = skip(SPACE, text, at + 1)
      if (text[at] === end) isValueNext = false
      else if (end === '}') at = skipName(text, at, 'a name in double quotes or }')
      continue
    }
    const end = ends.at(-1)
    if (end === undefined) {
      if (at < text.length) throw new FoundSyntaxFault(at, 'the end of the body')
      return
    }
    if (text[at] === end) {
      ends.pop()
      at += 1
      continue
    }
    if (text[at] !== ',') throw new FoundSyntaxFault(at, `a comma or ${end}`)
    at += 1
    if (end === '}') at = skipName(text, skip(SPACE, text, at), 'a name in double quotes')
    isValueNext = true
  }
}

const ENDS: Readonly<Record<string, '}' | ']'>> = { '{': '}', '[': ']' }

/** @returns the end of the pattern's match at `at`; `at` itself if it does not match. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function skipName(text: string, at: number, expected: string): number {
  if (text[at] !== '"') throw new FoundSyntaxFault(at, expected)
  const colon = skip(SPACE, text, skipString(text, at))
  if (text[colon] !== ':') throw new FoundSyntaxFault(colon, 'a colon')
  return colon + 1
}

function skipScalar(text: string, at: number): number {
  if (text[at] === '"') return skipString(text, at)
  const end = skip(SCALAR, text, at)
  if (end === at) throw new FoundSyntaxFault(at, 'a value')
  return end
}

function skipString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    at = skip(PLAIN, text, at)
    if (text[at] === '"') return at + 1
    const behind = skip(ESCAPE, text, at)
    if (behind === at) {
      throw new FoundSyntaxFault(
        at,
        text[at] === '\\' ? 'a valid escape sequence' : 'the closing double quote',
      )
    }
    at = behind
  }
}
