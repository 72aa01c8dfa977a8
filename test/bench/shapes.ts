/** Bodies of about a megabyte that are refused, of every shape that costs somebody something. */
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { explain } from '../../generators/runtime/explain.ts'

const DOCUMENT = `
openapi: 3.1.0
info: { title: shapes, version: 2030-01-01 }
paths: {}
components:
  schemas:
    Line: { type: object, additionalProperties: false, required: [id], properties: { id: { type: string, maxLength: 40, pattern: '^[a-z0-9_]+$' }, n: { type: integer, minimum: 0 } } }
    Lines: { type: object, required: [lines], properties: { lines: { type: array, items: { $ref: '#/components/schemas/Line' } } } }
    Numbers: { type: object, properties: { numbers: { type: array, items: { type: integer } } } }
    Bounded: { type: object, properties: { lines: { type: array, maxItems: 100, items: { $ref: '#/components/schemas/Line' } } } }
    UniqueTexts: { type: array, uniqueItems: true, items: { type: string } }
    UniqueLines: { type: array, uniqueItems: true, items: { $ref: '#/components/schemas/Line' } }
    Closed: { type: object, additionalProperties: false, properties: { a: { type: string } } }
    Map: { type: object, additionalProperties: { type: string, maxLength: 20 }, propertyNames: { pattern: '^[a-z0-9_]+$' } }
    Patterns: { type: object, additionalProperties: false, patternProperties: { '^k': { type: integer } } }
    Tree: { type: object, additionalProperties: false, properties: { v: { type: integer }, in: { $ref: '#/components/schemas/Tree' }, all: { type: array, items: { $ref: '#/components/schemas/Tree' } } } }
    Text: { type: object, properties: { text: { type: string, maxLength: 200, pattern: '^(a+)+$' } } }
    Long: { type: object, properties: { text: { type: string, pattern: '^[a-z ]*$' } } }
    When: { type: object, properties: { text: { type: string, format: date-time } } }
    Mail: { type: object, properties: { text: { type: string, format: email } } }
    Either: { type: array, items: { anyOf: [{ $ref: '#/components/schemas/Line' }, { type: string, maxLength: 3 }, { type: integer }] } }
`

export interface Shape {
  readonly name: string
  readonly schema: string
  readonly body: unknown
  /** The body as JSON where it is too deep to be written by JSON.stringify. */
  readonly text?: string
}

const list = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index))
const map = (length: number, make: (index: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(list(length, (index) => [`k${index}`, make(index)]))

/** As text: nothing else takes it that deep. */
const nested = (depth: number): string => `${'{"in":'.repeat(depth)}{"v":"x"}${'}'.repeat(depth)}`

/** @param scale 1 for a megabyte. */
export function makeShapes(scale = 1): Shape[] {
  const n = (full: number) => Math.round(full * scale)
  const line = (index: number) => ({ id: `line_${index}`, n: index })
  const last = <Item>(items: Item[], item: unknown): unknown[] => [...items.slice(0, -1), item]
  const text = 'a'.repeat(n(1_000_000))
  return [
    {
      name: '30,000 objects, the last wrong',
      schema: 'Lines',
      body: { lines: last(list(n(30_000), line), { id: 'NO' }) },
    },
    {
      name: '30,000 objects, all wrong',
      schema: 'Lines',
      body: { lines: list(n(30_000), () => ({ id: 'NO', n: -1 })) },
    },
    {
      name: '150,000 numbers, the last wrong',
      schema: 'Numbers',
      body: {
        numbers: last(
          list(n(150_000), (i) => i),
          'x',
        ),
      },
    },
    { name: '30,000 items where 100 may be', schema: 'Bounded', body: { lines: list(n(30_000), line) } },
    {
      name: '70,000 unique texts, the last repeated',
      schema: 'UniqueTexts',
      body: last(
        list(n(70_000), (i) => `item${i}`),
        'item0',
      ),
    },
    {
      name: '30,000 unique objects, the last repeated',
      schema: 'UniqueLines',
      body: last(list(n(30_000), line), line(0)),
    },
    { name: '60,000 unknown properties', schema: 'Closed', body: map(n(60_000), (i) => i) },
    {
      name: 'a map of 45,000, the last value wrong',
      schema: 'Map',
      body: { ...map(n(45_000), (i) => `v${i}`), last: 1 },
    },
    {
      name: 'pattern properties, 60,000, the last wrong',
      schema: 'Patterns',
      body: { ...map(n(60_000), (i) => i), zz: 1 },
    },
    { name: '3,000 deep', schema: 'Tree', body: undefined, text: nested(n(3_000)) },
    { name: '160,000 deep', schema: 'Tree', body: undefined, text: nested(n(160_000)) },
    { name: 'a long text where 200 may be, with a bad pattern', schema: 'Text', body: { text: `${text}!` } },
    { name: 'a long text that a pattern refuses at its end', schema: 'Long', body: { text: `${text}!` } },
    { name: 'a long text that is no date-time', schema: 'When', body: { text } },
    { name: 'a long text that is no email', schema: 'Mail', body: { text } },
    {
      name: '25,000 members of a union, the last wrong',
      schema: 'Either',
      body: last(list(n(25_000), line), 'long'),
    },
  ]
}

/** @returns how a shape is refused: the check's verdict and the faults. */
export async function prepareShapes(formats: Readonly<Record<string, (text: string) => boolean>>) {
  const report = createReport()
  const api = buildApi(parseText('shapes.yaml', DOCUMENT, report)!, report)
  const { text } = emitValidators([api]).find((each) => each.path === 'validators.js')!
  // Loaded without a file; what it imports has to be named in full there.
  const source = text.replace(/ from '([^'.]+[^']*)'/g, (_, name) => ` from '${import.meta.resolve(name)}'`)
  const checks = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as Record<
    string,
    (value: unknown) => boolean
  >
  return {
    check: (shape: Shape) => checks[shape.schema]!(shape.body),
    explain: (shape: Shape) =>
      explain(api.document, `/components/schemas/${shape.schema}`, shape.body, formats),
  }
}
