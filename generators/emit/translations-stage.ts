/** Where values cross between two adjacent versions: answers, bodies, items of batches, queries and events. */
import type { LoadedChange } from '../changes.ts'
import { isJson } from '../ir/media-type.ts'
import type { Api, Operation, Parameter, Place, Response, Schema } from '../ir/model.ts'
import { createStep, missedPlaces, touchedFunctions } from '../ir/translation.ts'
import { type LensAt, namesTable, type PairFunction, type Step } from '../ir/translation-model.ts'
import { jsonBody } from './json-schema.ts'
import { judgedArray } from './judge-names.ts'

/** What happens to one parameter of a query. */
export type QueryRewrite =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'names'; readonly names: ReadonlyMap<string, string> }
  /** For filters: each value becomes several. */
  | { readonly kind: 'values'; readonly values: ReadonlyMap<string, readonly string[]> }
  | { readonly kind: 'turn'; readonly by: LensAt }

/** Everything that happens between a version and the next. */
export interface Stage {
  readonly old: Api
  readonly next: Api
  /** Functions that do something, by key. */
  readonly up: ReadonlyMap<string, PairFunction>
  readonly down: ReadonlyMap<string, PairFunction>
  /** By operation id: keys of the functions for its body, for an item of its batch, for its answer. */
  readonly bodies: ReadonlyMap<string, string>
  readonly items: ReadonlyMap<string, string>
  readonly answers: ReadonlyMap<string, string>
  /** By event type. */
  readonly payloads: ReadonlyMap<string, string>
  readonly queries: ReadonlyMap<string, ReadonlyMap<string, QueryRewrite>>
  /** Answers that differ and that no function translates. */
  readonly others: readonly Response[]
  /** Parts of schemas that differ and that no function translates. */
  readonly missed: readonly Place[]
}

/** @param changes those that the newer of both versions introduced. */
export function createStage(old: Api, next: Api, changes: readonly LoadedChange[]): Stage {
  const up = createStep('up', old, next, changes)
  const down = createStep('down', old, next, changes)
  const roots: Record<'bodies' | 'items' | 'answers' | 'payloads', Map<string, string>> = {
    bodies: new Map(),
    items: new Map(),
    answers: new Map(),
    payloads: new Map(),
  }
  const queries = new Map<string, ReadonlyMap<string, QueryRewrite>>()
  const later = new Map(next.operations.map((operation) => [operation.id, operation]))
  for (const operation of old.operations) {
    const counterpart = later.get(operation.id)
    if (!counterpart) continue
    const root = (
      where: keyof typeof roots,
      step: Step,
      one: Schema | undefined,
      other: Schema | undefined,
    ) => {
      if (one && other) roots[where].set(operation.id, rootKey(step, one, other, `${operation.id}_${where}`))
    }
    const [body, nextBody] = [jsonBody(operation), jsonBody(counterpart)]
    const [item, nextItem] = [
      body && judgedArray(old, body.schema),
      nextBody && judgedArray(next, nextBody.schema),
    ]
    if (item && nextItem) root('items', up, item.items, nextItem.items)
    else root('bodies', up, body?.schema, nextBody?.schema)
    root('answers', down, answerOf(operation), answerOf(counterpart))
    const query = queryOf(operation, counterpart, up)
    if (query.size > 0) queries.set(operation.id, query)
  }
  const events = new Map(next.events.map((event) => [event.name, event]))
  for (const event of old.events) {
    const [one, other] = [event.payload?.schema, events.get(event.name)?.payload?.schema]
    if (one && other) roots.payloads.set(event.name, rootKey(down, one, other, `${event.name}_payload`))
  }
  const others = otherAnswers(old, next, createStep('down', old, next, changes))
  const touched = { up: touchedFunctions(up), down: touchedFunctions(down) }
  return {
    old,
    next,
    ...touched,
    bodies: only(roots.bodies, touched.up),
    items: only(roots.items, touched.up),
    answers: only(roots.answers, touched.down),
    payloads: only(roots.payloads, touched.down),
    queries,
    others,
    missed: [...missedPlaces(up), ...missedPlaces(down)],
  }
}

/** Further answers of success that a translation would change: nothing calls one for them. Errors are the service's own. */
function otherAnswers(old: Api, next: Api, step: Step): Response[] {
  const later = new Map(next.operations.map((operation) => [operation.id, operation]))
  const keys = old.operations.flatMap((operation): [Response, string][] =>
    operation.responses.filter(isSuccess).flatMap((response): [Response, string][] => {
      const counterpart = later.get(operation.id)?.responses.find(({ status }) => status === response.status)
      const [one, other] = [jsonOf(response), counterpart && jsonOf(counterpart)]
      if (!one || !other || one === answerOf(operation)) return []
      return [[response, rootKey(step, one, other, `${operation.id}_${response.status}`)]]
    }),
  )
  const touched = touchedFunctions(step)
  return keys.filter(([, key]) => touched.has(key)).map(([response]) => response)
}

const isSuccess = ({ status }: Response): boolean => status.startsWith('2')

const jsonOf = (response: Response): Schema | undefined =>
  response.contents.find((content) => isJson(content.mediaType))?.schema

const only = (roots: ReadonlyMap<string, string>, functions: ReadonlyMap<string, unknown>) =>
  new Map([...roots].filter(([, key]) => functions.has(key)))

/** The schema of the body of success. */
export function answerOf(operation: Operation): Schema | undefined {
  const success = operation.responses.find(isSuccess)
  return success && jsonOf(success)
}

/** The key of the function of a pair; one is made where the schemas are not both components. */
function rootKey(step: Step, old: Schema, next: Schema, name: string): string {
  const rewrite = step.pair(old, next)
  const bare = !old.nullable && !next.nullable
  if (rewrite.kind === 'call' && bare) return rewrite.key
  const { nullable } = step.direction === 'down' ? next : old
  step.functions.set(name, { key: name, old: name, next: name, nullable, rewrite })
  return name
}

function queryOf(operation: Operation, next: Operation, step: Step): Map<string, QueryRewrite> {
  const rewrites = new Map<string, QueryRewrite>()
  for (const at of step.lenses) {
    const { lens } = at
    if (lens.kind === 'ignored-query' && lens.operation === operation.id) {
      rewrites.set(lens.parameter, { kind: 'ignore' })
    }
    if (lens.kind === 'filter' && lens.operation === operation.id) {
      rewrites.set(lens.parameter, { kind: 'turn', by: at })
    }
  }
  for (const parameter of operation.parameters) {
    const counterpart = next.parameters.find((each) => each.in === 'query' && each.name === parameter.name)
    if (parameter.in !== 'query' || !counterpart || rewrites.has(parameter.name)) continue
    const rewrite = namesOf(parameter, counterpart, step)
    if (rewrite) rewrites.set(parameter.name, rewrite)
  }
  return rewrites
}

/** A parameter that refers to an enumeration whose members have other names. */
function namesOf(parameter: Parameter, next: Parameter, step: Step): QueryRewrite | undefined {
  const { schema } = parameter
  if (schema.kind !== 'ref' || next.schema.kind !== 'ref') return undefined
  const component = schema.name
  for (const { lens } of step.lenses) {
    if (lens.kind !== 'values' || lens.property !== undefined || !lens.schemas.includes(component)) continue
    const names = namesTable(lens, 'up')
    if (!isSet(parameter)) return names.size > 0 ? { kind: 'names', names } : undefined
    const values = new Map([...names].map(([old, now]): [string, readonly string[]] => [old, [now]]))
    for (const [now, old] of Object.entries(lens.merge)) {
      values.set(old, [...(values.get(old) ?? [old]), now])
    }
    return { kind: 'values', values }
  }
  return undefined
}

/** Whether head receives a list of values for it. */
export const isSet = (parameter: Parameter): boolean => parameter.extensions['x-filter'] === 'equality'
