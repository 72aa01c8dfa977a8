/**
 * Prints functions for `unevaluatedItems` and `unevaluatedProperties`. They find what no adjacent keyword has
 * evaluated, through references and through the branches that a value fits (JSON Schema 2020-12, section 11). ajv
 * follows the branches at compile time, when the results of `contains` and conditions are not known.
 */
import type { JsonSchema } from '../../ir/model.ts'
import { literal, stringLiteral } from '../../print/literal.ts'
import { printPattern } from './functions.ts'

export type UnevaluatedKeyword = 'unevaluatedItems' | 'unevaluatedProperties'

type Rules = Readonly<Record<string, unknown>>

export interface SeenWriter {
  /** Returns the name of a function that validates a value against a schema. */
  check(schema: JsonSchema): string
  /** Returns the name of a function that adds to a set the keys that the schema with an id evaluates. */
  seenBy(id: string, keyword: UnevaluatedKeyword): string
}

/** Prints a function that validates everything that the other rules do not evaluate. */
export function printUnevaluated(
  name: string,
  rules: Rules,
  keyword: UnevaluatedKeyword,
  writer: SeenWriter,
): string {
  const { [keyword]: rest, ...others } = rules
  const fitting = `${writer.check(rest as JsonSchema)}(v[key])`
  const keys = keyword === 'unevaluatedItems' ? 'v.keys()' : 'Object.keys(v)'
  return `function ${name}(v) {
  const seen = new Set()
${linesOf(others, keyword, writer)}  for (const key of ${keys}) if (!seen.has(key) && !${fitting}) return false
  return true
}
`
}

/** Prints the function that `seenBy` names. */
export function printSeen(
  name: string,
  schema: JsonSchema,
  keyword: UnevaluatedKeyword,
  writer: SeenWriter,
): string {
  return `function ${name}(v, seen) {\n${linesOf(schema, keyword, writer)}}\n`
}

function linesOf(schema: unknown, keyword: UnevaluatedKeyword, writer: SeenWriter): string {
  if (typeof schema !== 'object' || schema === null) return ''
  const rules = schema as Rules
  const own = keyword === 'unevaluatedItems' ? itemLines(rules, writer) : propertyLines(rules)
  const inner = (each: unknown) => linesOf(each, keyword, writer)
  const when = (condition: string, lines: string) =>
    lines === '' ? '' : `  if (${condition}) {\n${lines}  }\n`
  const list = (name: string) => (Array.isArray(rules[name]) ? (rules[name] as unknown[]) : [])
  const fits = (each: unknown) => `${writer.check(each as JsonSchema)}(v)`
  const refs = typeof rules.$ref === 'string' ? `  ${writer.seenBy(rules.$ref, keyword)}(v, seen)\n` : ''
  const chosen = [...list('anyOf'), ...list('oneOf')].map((each) => when(fits(each), inner(each)))
  const dependent = Object.entries((rules.dependentSchemas ?? {}) as Rules).map(([name, each]) =>
    when(`Object.hasOwn(v, ${stringLiteral(name)})`, inner(each)),
  )
  const conditional =
    'if' in rules
      ? when(fits(rules.if), inner(rules.if) + inner(rules.then)) +
        when(`!${fits(rules.if)}`, inner(rules.else))
      : ''
  return [own, refs, ...list('allOf').map(inner), ...chosen, ...dependent, conditional].join('')
}

function itemLines(rules: Rules, writer: SeenWriter): string {
  if ('items' in rules || 'unevaluatedItems' in rules) return '  for (const key of v.keys()) seen.add(key)\n'
  const { prefixItems, contains } = rules
  const prefix = Array.isArray(prefixItems)
    ? `  for (let key = 0; key < v.length && key < ${prefixItems.length}; key++) seen.add(key)\n`
    : ''
  if (contains === undefined) return prefix
  return `${prefix}  for (const key of v.keys()) if (${writer.check(contains as JsonSchema)}(v[key])) seen.add(key)\n`
}

function propertyLines(rules: Rules): string {
  if ('additionalProperties' in rules || 'unevaluatedProperties' in rules)
    return '  for (const key of Object.keys(v)) seen.add(key)\n'
  const names = Object.keys((rules.properties ?? {}) as Rules)
  const patterns = Object.keys((rules.patternProperties ?? {}) as Rules)
  const matching = patterns.map(
    (pattern) =>
      `  for (const key of Object.keys(v)) if (${printPattern(pattern)}.test(key)) seen.add(key)\n`,
  )
  return (
    (names.length > 0 ? `  for (const key of ${literal(names)}) seen.add(key)\n` : '') + matching.join('')
  )
}
