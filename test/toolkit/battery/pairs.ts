/** The battery of the gate: pairs of documents with one difference each, and how often the gate is right. */
import { createReport } from '../../../generators/diagnostics/diagnostic.ts'
import { diffApis } from '../../../generators/diff/diff.ts'
import { parseText } from '../../../generators/document/load.ts'
import { buildApi } from '../../../generators/ir/build.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { type Class, OPERATION_ROWS, type OperationRow, PLAIN_ROWS } from './operations.ts'
import { OPERATIONS_OF_OTHERS, SCHEMAS_OF_OTHERS } from './others.ts'
import { COMPONENTS, SCHEMA_ROWS, type SchemaRow } from './schemas.ts'

export interface Pair {
  readonly name: string
  /** Whole documents as YAML. */
  readonly old: string
  readonly next: string
  readonly want: Class
  /** Whether the service translates between the versions. */
  readonly translated: boolean
}

const DIALECTS = { '3.0': '3.0.3', '3.1': '3.1.0' } as const
type Dialect = keyof typeof DIALECTS

const X = '{ $ref: "#/components/schemas/X" }'
const JSON_X = `content: { application/json: { schema: ${X} } }`
const USES: Readonly<Record<'request' | 'response', readonly string[]>> = {
  request: [
    `paths: { /x: { post: { operationId: useX, requestBody: { required: true, ${JSON_X} }, responses: { '204': { description: ok } } } } }`,
    `paths: { /x: { put: { operationId: useX, parameters: [{ name: q, in: query, ${JSON_X} }], responses: { '204': { description: ok } } } } }`,
  ],
  response: [
    `paths: { /x: { get: { operationId: useX, responses: { '200': { description: ok, ${JSON_X} } } } } }`,
    `paths: { /x: { get: { operationId: useX, responses: { '204': { description: ok }, '4XX': { description: no, ${JSON_X} } } } } }`,
    `paths: { /x: { post: { operationId: useX, responses: { '204': { description: ok } }, callbacks: { c: { "{$url}": { post: { requestBody: { ${JSON_X} }, responses: { '200': { description: ok } } } } } } } } }`,
  ],
}

/** Where an edited schema stands, seen from what is sent. */
const PLACES: readonly ((schema: string) => string)[] = [
  (schema) => `X: ${schema}`,
  (schema) => `X: { type: object, properties: { p: ${schema} } }`,
  (schema) => `X: { type: array, items: ${schema} }`,
  (schema) => `X: { type: object, additionalProperties: ${schema} }`,
  (schema) => `X: { type: object, properties: { o: { $ref: "#/components/schemas/P" } } }, P: ${schema}`,
  (schema) =>
    `X: { allOf: [{ $ref: "#/components/schemas/P" }, { type: object, properties: { z: {} } }] }, P: { type: object, properties: { p: ${schema} } }`,
]

function document(dialect: Dialect, version: string, text: string): string {
  return `openapi: ${DIALECTS[dialect]}\ninfo: { title: T, version: '${version}' }\n${text}\n`
}

function* schemaPairs(rows: readonly SchemaRow[]): Generator<Pair> {
  for (const [index, [what, a, b, there, back, only]] of rows.entries()) {
    for (const [step, dialect] of (only ? [only] : (['3.0', '3.1'] as const)).entries()) {
      const place = PLACES[(index + step) % PLACES.length]!
      for (const [at, direction] of (['request', 'response'] as const).entries()) {
        const use = USES[direction][(index + step) % USES[direction].length]!
        const text = (schema: string) =>
          `${use}\ncomponents: { schemas: { ${place(schema)}, ${COMPONENTS} } }`
        const name = `${what}, in a ${direction}`
        yield pair(dialect, name, text(a), text(b), there[at] as Class)
        yield pair(dialect, `${name}, back`, text(b), text(a), back[at] as Class)
      }
    }
  }
}

/** Two schemas as the bodies of a request or a response. */
export function schemaPair(a: string, b: string, use: 'request' | 'response' = 'request'): Pair {
  const text = (schema: string) =>
    `${USES[use][0]}\ncomponents: { schemas: { ${PLACES[0]!(schema)}, ${COMPONENTS} } }`
  return pair('3.1', `${a} → ${b}`, text(a), text(b), 'b')
}

function* operationPairs(rows: readonly OperationRow[], translated: boolean): Generator<Pair> {
  for (const [what, a, b, there, back, only] of rows) {
    for (const dialect of only ? [only] : (['3.0', '3.1'] as const)) {
      yield { ...pair(dialect, what, a, b, there), translated }
      yield { ...pair(dialect, `${what}, back`, b, a, back), translated }
    }
  }
}

function pair(dialect: Dialect, name: string, old: string, next: string, want: Class): Pair {
  return {
    translated: true,
    name: `${dialect} ${name}`,
    old: document(dialect, '2030-01-01', old),
    next: document(dialect, '2030-06-01', next),
    want,
  }
}

export const PAIRS: readonly Pair[] = [
  ...schemaPairs(SCHEMA_ROWS),
  ...operationPairs(OPERATION_ROWS, true),
  ...operationPairs(PLAIN_ROWS, false),
]

/** Pairs for what the cases of other tools show. */
export const PAIRS_OF_OTHERS: readonly Pair[] = [
  ...schemaPairs(SCHEMAS_OF_OTHERS),
  ...operationPairs(OPERATIONS_OF_OTHERS, true),
]

export function readApi(text: string): Api {
  const report = createReport()
  const loaded = parseText('pair.yaml', text, report)
  if (!loaded) throw new Error(`${report.diagnostics.map((each) => each.message).join('\n')}\n${text}`)
  const api = buildApi(loaded, report, false)
  const [fault] = report.diagnostics.filter((each) => each.severity === 'error')
  if (fault) throw new Error(`${fault.code}: ${fault.message}\n${text}`)
  return api
}

/** @returns what the gate says of a pair, and in which words. */
export function checkPair({ old, next, translated }: Pair): {
  readonly got: Class
  readonly codes: readonly string[]
} {
  const found = diffApis(readApi(old), readApi(next), { translated })
  const isBreaking = found.some((each) => each.class === 'breaking')
  return {
    got: isBreaking ? 'b' : found.length > 0 ? 'a' : '-',
    codes: found.map((each) => `${each.class} ${each.code}: ${each.message}`),
  }
}

export interface Score {
  readonly pairs: number
  /** Breaks that are named, of all breaks. */
  readonly recall: number
  /** Breaks, of all that is named. */
  readonly precision: number
  /** Pairs whose class is right, additive and none told apart as well. */
  readonly exact: number
  readonly missed: readonly string[]
  readonly falseAlarms: readonly string[]
  readonly inexact: readonly string[]
}

/** Compares all pairs. */
export function scoreGate(pairs: readonly Pair[]): Score {
  const checked = pairs.map((each) => ({ ...each, ...checkPair(each) }))
  const told = (list: typeof checked) =>
    list.map(({ name, codes }) => `${name}: ${codes.join('; ') || 'nothing'}`)
  const missed = checked.filter(({ want, got }) => want === 'b' && got !== 'b')
  const falseAlarms = checked.filter(({ want, got }) => want !== 'b' && got === 'b')
  const hits = checked.filter(({ want, got }) => want === 'b' && got === 'b').length
  const inexact = checked.filter(({ want, got }) => want !== got && want !== 'b' && got !== 'b')
  return {
    pairs: pairs.length,
    recall: hits / (hits + missed.length),
    precision: hits / (hits + falseAlarms.length),
    exact: checked.filter(({ want, got }) => want === got).length / pairs.length,
    missed: told(missed),
    falseAlarms: told(falseAlarms),
    inexact: told(inexact),
  }
}
