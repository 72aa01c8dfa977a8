/** Facts about a node other than its type: constraints of its values, and extensions with a label. */
import type { Extensions, Schema } from '../../ir/model.ts'
import { code, escapeHtml, html, type SafeHtml, scalarCode } from './html.ts'
import type { FactView } from './views.ts'

/** Labels of extensions to show. A flag is shown by its label only; other extensions are not shown. */
const LABELS: Readonly<Record<string, string>> = {
  'x-scope': 'Scope',
  'x-rate-limit': 'Rate limit',
  'x-environment': 'Only in',
  'x-plan': 'Plan',
  'x-verified': 'Requires a verified account',
  'x-publishable': 'Publishable keys can call it',
  'x-factor': 'Requires a second factor',
  'x-unit': 'Unit',
  'x-judged': 'CheckedItem',
  'x-since': 'Since',
  'x-stability': 'Stability',
}

/** Returns the labeled extensions of a node, in document order. */
export function factsOf({ extensions }: { readonly extensions: Extensions }): FactView[] {
  return Object.entries(extensions).flatMap(([name, value]) => {
    const label = Object.hasOwn(LABELS, name) ? LABELS[name] : undefined
    if (label === undefined || value === false || value === null) return []
    return [{ label, valueHtml: value === true ? ('' as SafeHtml) : scalarCode(value) }]
  })
}

/** Describes the constraints of a schema. */
export function schemaFacts(schema: Schema): FactView[] {
  const facts = rulesOf(schema)
  return schema.default === undefined
    ? facts
    : [{ label: 'Default', valueHtml: scalarCode(schema.default) }, ...facts]
}

function rulesOf(schema: Schema): FactView[] {
  switch (schema.kind) {
    case 'string':
      return [
        ...between('Length', schema.minLength, schema.maxLength, 'character'),
        ...(schema.pattern === undefined ? [] : [{ label: 'Pattern', valueHtml: code(schema.pattern) }]),
      ]
    case 'number':
      return [
        ...between('Range', schema.minimum, schema.maximum),
        ...fact('Above', schema.exclusiveMinimum),
        ...fact('Below', schema.exclusiveMaximum),
        ...fact('Multiple of', schema.multipleOf),
      ]
    case 'array':
      return [
        ...between('Holds', schema.minItems, schema.maxItems, 'item'),
        ...(schema.uniqueItems ? [{ label: 'Unique items', valueHtml: '' as SafeHtml }] : []),
      ]
    case 'object':
      return [
        ...between('Holds', schema.minProperties, schema.maxProperties, 'member'),
        ...(schema.propertyNames === undefined ? [] : namesFacts(schema.propertyNames)),
      ]
    default:
      return []
  }
}

function namesFacts(names: Schema): FactView[] {
  return rulesOf(names).map(({ label, valueHtml }) => ({ label: `${label} of names`, valueHtml }))
}

function fact(label: string, value: number | undefined): FactView[] {
  return value === undefined ? [] : [{ label, valueHtml: escapeHtml(grouped(value)) }]
}

/** Formats bounds: `1 to 40 characters`, `at least 1`, `at most 20 items`. */
function between(
  label: string,
  low: number | undefined,
  high: number | undefined,
  unit?: string,
): FactView[] {
  // Every length is at least 0, so that bound is omitted.
  const least = unit !== undefined && low === 0 ? undefined : low
  if (least === undefined && high === undefined) return []
  const units = unit === undefined ? '' : ` ${unit}${(high ?? least) === 1 ? '' : 's'}`
  const bounds =
    least === undefined
      ? `at most ${grouped(high ?? 0)}`
      : high === undefined
        ? `at least ${grouped(least)}`
        : least === high
          ? grouped(least)
          : `${grouped(least)} to ${grouped(high)}`
  return [{ label, valueHtml: html`${bounds}${units}` }]
}

/** Formats a number with thousands separators, independently of the locale: `699,052`. */
function grouped(value: number): string {
  const [whole = '', ...rest] = String(value).split('.')
  if (!/^-?\d+$/.test(whole)) return String(value)
  return [whole.replace(/\B(?=(\d{3})+$)/g, ','), ...rest].join('.')
}
