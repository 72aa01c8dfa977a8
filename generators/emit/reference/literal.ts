/** Prints JSON values as literals of dynamic languages. */

const WIDTH = 72

/** How a language prints JSON values. */
export interface LiteralSyntax {
  readonly indent: string
  readonly nothing: string
  readonly true: string
  readonly false: string
  /** Opening and closing brackets. */
  readonly list: readonly [string, string]
  readonly map: readonly [string, string]
  /** A map without members. */
  readonly emptyMap: string
  /** Between key and value, with spaces: ` => `. */
  readonly arrow: string
  quote(text: string): string
}

/** Prints a literal, on one line if it fits, otherwise with one item on each line. */
export function printLiteral(value: unknown, syntax: LiteralSyntax, indent = ''): string {
  if (value === null || value === undefined) return syntax.nothing
  if (typeof value === 'boolean') return value ? syntax.true : syntax.false
  if (typeof value === 'string') return syntax.quote(value)
  if (typeof value !== 'object') return String(value)
  const isList = Array.isArray(value)
  const items: (readonly [string, unknown])[] = isList
    ? value.map((each) => ['', each])
    : Object.entries(value).map(([name, each]) => [`${syntax.quote(name)}${syntax.arrow}`, each])
  const [open, close] = isList ? syntax.list : syntax.map
  if (items.length === 0) return isList ? open + close : syntax.emptyMap
  const line = `${open}${items.map(([start, each]) => start + printLiteral(each, syntax)).join(', ')}${close}`
  if (!line.includes('\n') && line.length + indent.length <= WIDTH) return line
  const inner = indent + syntax.indent
  return `${open}\n${items.map(([start, each]) => `${inner}${start}${printLiteral(each, syntax, inner)},\n`).join('')}${indent}${close}`
}
