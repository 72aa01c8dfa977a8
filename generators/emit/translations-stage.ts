/** Where values cross between two adjacent versions: answers, bodies, items of batches, queries and events. */
import type { LoadedChange } from '../changes.ts'
import { responseFor } from '../ir/diff-answers.ts'
import { propertyStep } from '../ir/diff-sheet.ts'
import { isJson } from '../ir/media-type.ts'
import type { Api, Operation, Parameter, Place, Response, Schema } from '../ir/model.ts'
import { createStep, missedPlaces, touchedFunctions } from '../ir/translation.ts'
import { auditOccurrences } from '../ir/translation-audit.ts'
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
  /** By operation id and status: keys of the functions for its other answers, errors among them. */
  readonly statuses: ReadonlyMap<string, string>
  /** By event type. */
  readonly payloads: ReadonlyMap<string, string>
  readonly queries: ReadonlyMap<string, ReadonlyMap<string, QueryRewrite>>
  /** Objects that lenses reach, by where they stand. */
  readonly sites: ReadonlySet<string>
  /** Where values differ that no function translates. */
  readonly missed: readonly Place[]
}

/**
 * @param changes those that the newer of both versions introduced.
 * @param statuses of an operation, in any version that handlers answer for.
 */
export function createStage(
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
  statuses: (id: string) => Iterable<string> = () => [],
): Stage {
  const up = createStep('up', old, next, changes)
  const down = createStep('down', old, next, changes)
  const roots: Record<'bodies' | 'items' | 'answers' | 'statuses' | 'payloads', Map<string, string>> = {
    bodies: new Map(),
    items: new Map(),
    answers: new Map(),
    statuses: new Map(),
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
      at: string,
      status?: string,
    ) => {
      if (!one || !other) return
      const name = status === undefined ? `${operation.id}_${where}` : `${operation.id}_${status}`
      const key = status === undefined ? operation.id : `${operation.id} ${status}`
      roots[where].set(key, rootKey(step, one, other, name, at))
    }
    const [body, nextBody] = [jsonBody(operation), jsonBody(counterpart)]
    const [item, nextItem] = [
      body && judgedArray(old, body.schema),
      nextBody && judgedArray(next, nextBody.schema),
    ]
    const at = `${counterpart.id} body`
    if (item && nextItem)
      root('items', up, item.items, nextItem.items, `${at}${propertyStep(nextItem.property)}[]`)
    else root('bodies', up, body?.schema, nextBody?.schema, at)
    const success = successOf(operation)
    root('answers', down, answerOf(operation), answerOf(counterpart), `${counterpart.id} ${success?.status}`)
    for (const status of new Set([
      ...statusesOf(operation),
      ...statusesOf(counterpart),
      ...statuses(operation.id),
    ])) {
      if (status === success?.status) continue
      const [one, other] = [responseFor(operation, status), responseFor(counterpart, status)]
      root(
        'statuses',
        down,
        one && jsonOf(one),
        other && jsonOf(other),
        `${counterpart.id} ${status}`,
        status,
      )
    }
    const query = queryOf(operation, counterpart, up)
    if (query.size > 0) queries.set(operation.id, query)
    for (const { in: where, name, schema } of operation.parameters)
      if (where === 'query' && query.has(name)) up.byHand.add(schema.place.pointer)
  }
  const events = new Map(next.events.map((event) => [event.name, event]))
  for (const event of old.events) {
    const [one, other] = [event.payload?.schema, events.get(event.name)?.payload?.schema]
    if (one && other)
      roots.payloads.set(
        event.name,
        rootKey(down, one, other, `${event.name}_payload`, `event ${event.name}`),
      )
  }
  for (const step of [up, down]) auditOccurrences(step)
  const touched = { up: touchedFunctions(up), down: touchedFunctions(down) }
  return {
    old,
    next,
    ...touched,
    bodies: only(roots.bodies, touched.up),
    items: only(roots.items, touched.up),
    answers: only(roots.answers, touched.down),
    statuses: only(roots.statuses, touched.down),
    payloads: only(roots.payloads, touched.down),
    queries,
    sites: new Set([...up.sites, ...down.sites]),
    missed: [...missedPlaces(up), ...missedPlaces(down)],
  }
}

const isSuccess = ({ status }: Response): boolean => status.startsWith('2')

/** What an answer says in JSON. */
export const jsonOf = (response: Response): Schema | undefined =>
  response.contents.find((content) => isJson(content.mediaType))?.schema

const only = (roots: ReadonlyMap<string, string>, functions: ReadonlyMap<string, unknown>) =>
  new Map([...roots].filter(([, key]) => functions.has(key)))

const statusesOf = ({ responses }: Operation): string[] => responses.map(({ status }) => status)

/** The first answer of success. */
export const successOf = ({ responses }: Operation): Response | undefined => responses.find(isSuccess)

/** The schema of the body of success. */
export function answerOf(operation: Operation): Schema | undefined {
  const success = successOf(operation)
  return success && jsonOf(success)
}

/** The key of the function of a pair; one is made where the schemas are not both components. */
function rootKey(step: Step, old: Schema, next: Schema, name: string, at: string): string {
  const rewrite = step.pair(old, next, at)
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
  const { schema, serialization } = parameter
  // What is written as JSON, say, is no plain value.
  if (serialization.mediaType !== undefined) return undefined
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
