/**
 * Emits functions that make the values of handlers and callers from JSON values: the option `types`. The opposite
 * direction needs no functions, because `encode` of `dateline/runtime/values` knows the types of the values.
 */
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { Api, ApiParameter, ObjectSchema, Schema } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import type { Direction, PairFunction, Rewrite } from '../../translate/model.ts'
import { isSet } from '../../translate/parameters.ts'
import { createDecoding, missedPlaces, touchedFunctions } from '../../translate/step.ts'
import { bodyOf, type CodeScope } from '../translations/code.ts'

export interface Decoders {
  /** Names of the functions by the names of their schemas; absent if nothing in a schema is decoded. */
  readonly names: ReadonlyMap<string, string>
  readonly text: string
}

/**
 * @param direction `up` for requests, `down` for responses.
 * @param schemas the schemas to decode, by name.
 * @param runtime path of `values.ts`.
 * @param report receives a finding for each location that no function reaches.
 */
export function printDecoders(
  api: Api,
  direction: Direction,
  schemas: ReadonlyMap<string, Schema>,
  runtime: string,
  report: Report,
): Decoders {
  const step = createDecoding(direction, api)
  const keys = new Map<string, string>()
  for (const [name, schema] of schemas) {
    const rewrite = step.pair(schema, schema)
    const key = rewrite.kind === 'call' && !schema.nullable ? rewrite.key : name
    keys.set(name, key)
    if (key === name)
      step.functions.set(key, { key, old: name, next: name, nullable: schema.nullable, rewrite })
  }
  const functions = touchedFunctions(step)
  const file = createFile(['Value'])
  const printed = new Map<string, string>()
  const names = new Set<string>()
  const fresh = (wanted: string): string => {
    let name = identifier(wanted)
    for (let n = 2; names.has(name); n++) name = `${identifier(wanted)}_${n}`
    names.add(name)
    return name
  }
  const lines: string[] = []
  const declare = (name: string, body: readonly string[]) =>
    lines.push(`export function ${name}(value: Value): Value {`, ...body.map((line) => `  ${line}`), '}', '')
  const print = (key: string): string => {
    const known = printed.get(key)
    if (known !== undefined) return known
    const each = functions.get(key)!
    const name = fresh(`decode${pascalCase(each.old)}`)
    printed.set(key, name)
    const body = bodyOf(each.rewrite, scope, name)
    declare(name, [...(each.nullable ? ['if (value === null) return value'] : []), ...body])
    return name
  }
  const scope: CodeScope = {
    direction,
    decodes: true,
    call: print,
    use: (name) => file.use(name, runtime),
    annotation: () => ': Value',
    hoist(hint, body) {
      const name = fresh(hint)
      declare(name, body)
      return name
    },
    change: () => unchanged(),
    table: () => unchanged(),
    path: () => unchanged(),
    noting: () => unchanged(),
  }
  const found = [...keys].filter(([, key]) => functions.has(key))
  const decoded = new Map(found.map(([name, key]) => [name, print(key)]))
  noteMissed(api, functions, missedPlaces(step), report)
  if (lines.length > 0)
    file.print('/** A value whose type the schema tells. */', 'type Value = any', '', ...lines)
  return { names: decoded, text: lines.length > 0 ? file.text().trimEnd().concat('\n') : 'export {}\n' }
}

function unchanged(): never {
  throw new Error('decoding has no changes between versions')
}

function noteMissed(
  api: Api,
  functions: ReadonlyMap<string, PairFunction>,
  missed: ReturnType<typeof missedPlaces>,
  report: Report,
): void {
  const unions = [...functions.values()].flatMap(({ rewrite }) => unclearUnions(rewrite))
  for (const place of [...missed, ...unions])
    report.add({
      code: 'type-not-mapped',
      severity: 'warning',
      place,
      message: `values here stay JSON values, although their type in version ${api.version} is mapped`,
      hint: 'describe them as properties, items, or members of a union with a discriminator',
    })
}

/** Returns the unions with a decoded member that nothing identifies. */
function unclearUnions(rewrite: Rewrite): Schema['place'][] {
  switch (rewrite.kind) {
    case 'choice': {
      const isUnclear = rewrite.cases.some((each) => !each.test && each.rewrite.kind !== 'same')
      return [
        ...(isUnclear ? [rewrite.union.place] : []),
        ...rewrite.cases.flatMap((each) => unclearUnions(each.rewrite)),
      ]
    }
    case 'list':
      return unclearUnions(rewrite.item)
    case 'map':
      return unclearUnions(rewrite.value)
    case 'all':
      return rewrite.parts.flatMap(unclearUnions)
    case 'object':
      return rewrite.members.flatMap((each) =>
        'rewrite' in each && each.rewrite ? unclearUnions(each.rewrite) : [],
      )
    default:
      return []
  }
}

/** Returns the schema of an object with parameters as its properties; undefined if there are none. */
export function parameterObject(
  parameters: readonly ApiParameter[],
  where: ApiParameter['in'],
): ObjectSchema | undefined {
  const own = parameters.filter((each) => each.in === where)
  const [first] = own
  if (!first) return undefined
  const { place } = first
  const base = { place, deprecated: false, extensions: {}, examples: [], nullable: false }
  return {
    ...base,
    kind: 'object',
    additional: 'open',
    patterns: [],
    properties: own.map((parameter) => ({
      name: where === 'header' ? parameter.name.toLowerCase() : parameter.name,
      required: parameter.required,
      readOnly: false,
      writeOnly: false,
      // Handlers get a list of values for an equality filter.
      schema: isSet(parameter)
        ? { ...base, kind: 'array', items: parameter.schema, prefix: [], uniqueItems: false }
        : parameter.schema,
      place,
    })),
  }
}
