/** The only way by which text of a document enters generated TypeScript. */

/** A single-quoted string literal; quotes are escaped, and what nobody sees or what some reader drops. */
export function stringLiteral(text: string): string {
  const json = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${json.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, escapeUnits)}'`
}

/** Each UTF-16 unit as an escape, which means the same in strings and in regular expressions. */
function escapeUnits(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** Any JSON value as a literal on one line. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return stringLiteral(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${propertyKey(name)}: ${literal(member)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  // What JSON has no numbers for, YAML has.
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  return JSON.stringify(value) ?? 'undefined'
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** A property name in an object literal or an interface: bare where it may be, quoted otherwise. */
export function propertyKey(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return IDENTIFIER.test(name) ? name : stringLiteral(name)
}

/** Access to a property: `.name` or `['odd name']`. */
export function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${stringLiteral(name)}]`
}

/** A text within a regular expression literal, where it means itself. */
export function regexText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/[^ -~]+/g, escapeUnits)
}

/** A documentation comment; nothing in the text can end it early. Empty for empty text. */
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
