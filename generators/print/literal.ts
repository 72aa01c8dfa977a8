/** Text from a document enters generated TypeScript only through these functions. */

/**
 * Returns a single-quoted string literal. Escapes quotes, invisible characters, and characters that some tools
 * drop.
 */
export function stringLiteral(text: string): string {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${json.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, escapeUnits)}'`
}

/** Escapes each UTF-16 unit in a form that is valid in strings and in regular expressions. */
function escapeUnits(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** Returns any JSON value as a literal on one line. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${propertyKey(name)}: ${literal(member)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  // YAML has numbers that JSON lacks, such as -0 and infinity.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  return JSON.stringify(value) ?? 'undefined'
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** Returns a property name for an object literal or an interface; quoted only if necessary. */
export function propertyKey(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return IDENTIFIER.test(name) ? name : stringLiteral(name)
}

/** Returns a property access: `.name` or `['odd name']`. */
export function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${stringLiteral(name)}]`
}

/** Escapes text for use in a regular expression literal. */
export function regexText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/[^ -~]+/g, escapeUnits)
}

/** Returns a documentation comment that the text cannot end early; empty for empty text. */
export function docComment(text: string | undefined, indent = ''): string {
  const body = text?.trim().replaceAll('*/', '*\u200b/')
  if (!body) return ''
  const lines = body.split('\n').map((line) => line.trimEnd())
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} *${line ? ` ${line}` : ''}\n`).join('')}${indent} */\n`
}

/** The heading of a section of a long file, as a comment of one line. Line breaks in the title become spaces. */
export const heading = (title: string): string =>
  `// ----- ${title.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()} -----`

/** @returns a heading in front of each operation that begins another tag. */
export function tagHeading(tag: string, before: string | undefined): readonly string[] {
  return tag === before ? [] : [heading(sentenceCase(tag))]
}

/** `book_lists` → `Book lists`. */
function sentenceCase(tag: string): string {
  const words = tag.replaceAll(/[_-]+/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
