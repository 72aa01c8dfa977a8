/** Collects all translations between two adjacent versions: responses, bodies, batch items, parameters and events. */

import { counterpartsOf, eventNamesOf, nextStatus, renamesOf, statusesOf } from '../change/align.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { responseFor } from '../diff/answers.ts'
import { propertyStep } from '../diff/position.ts'
import { formBodies, jsonBody, streamOf, translatedContent, validatedArray } from '../ir/bodies.ts'
import { essenceOf } from '../ir/media-type.ts'
import type { Api, ApiOperation, Response, Schema } from '../ir/model.ts'
import { successOf } from '../ir/operations.ts'
import { auditOccurrences } from './audit.ts'
import type { PairFunction, Rewrite, TranslationStep } from './model.ts'
import {
  keyIn,
  PARTS,
  type ParameterPart,
  type ParameterRewrite,
  rewritesOf,
  servedBy,
} from './parameters.ts'
import { type RequestMove, requestMoves } from './requests.ts'
import { createStep, missedPlaces, touchedFunctions } from './step.ts'

/** All translations between a version and the next. */
export interface Transition {
  readonly old: Api
  readonly next: Api
  /** Functions that change something, by key. */
  readonly up: ReadonlyMap<string, PairFunction>
  readonly down: ReadonlyMap<string, PairFunction>
  /** By operation id: keys of the functions for the body, for a batch item, and for the success response. */
  readonly bodies: ReadonlyMap<string, string>
  readonly items: ReadonlyMap<string, string>
  readonly answers: ReadonlyMap<string, string>
  /** By operation id and media type: keys of the functions for forms. */
  readonly forms: ReadonlyMap<string, string>
  /** By operation id and status: keys of the functions for other responses, including errors. */
  readonly statuses: ReadonlyMap<string, string>
  /** By event type of the next version. */
  readonly payloads: ReadonlyMap<string, string>
  /** By part of the request and operation id; absent if nothing changes. */
  readonly parameters: Readonly<Record<ParameterPart, ReadonlyMap<string, readonly ParameterRewrite[]>>>
  /** By operation id: values that move to a different part of the request; absent if none does. */
  readonly requestMoves: ReadonlyMap<string, readonly RequestMove[]>
  /** By operation id: the same operation in the next version. */
  readonly counterparts: ReadonlyMap<string, ApiOperation>
  /** By operation id: new → old names of parameters, and new → old statuses. */
  readonly names: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly statusNames: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Event types of the next version → of the old one, if they differ. */
  readonly eventNames: ReadonlyMap<string, string>
  /** Objects that lenses reach, by location. */
  readonly sites: ReadonlySet<string>
  /** Locations where values differ but no function translates them. */
  readonly missed: readonly SourceLocation[]
}

/**
 * What is translated. Bodies, forms, items and parameters are translated up; success responses (answers), other statuses
 * and payloads down. Properties that only the newer version has never occur on the way up, and are removed on the
 * way down.
 */
export type TranslationKind =
  | 'answers'
  | 'statuses'
  | 'bodies'
  | 'forms'
  | 'items'
  | 'payloads'
  | 'fields'
  | 'request'
  | ParameterPart

/** A kind whose functions translate values with a schema. */
export type ValueKind = Exclude<TranslationKind, 'fields' | 'request' | ParameterPart>

const isPart = (kind: TranslationKind): kind is ParameterPart => (PARTS as readonly string[]).includes(kind)

export const isUp = (kind: TranslationKind): boolean =>
  kind === 'request' || kind === 'bodies' || kind === 'forms' || kind === 'items' || isPart(kind)

/**
 * Returns the key in the next version; undefined if that version removed it, because the canonical version then has
 * it unchanged.
 *
 * @param id an operation id, `getBook 404` for statuses, `createBook multipart/form-data` for forms, or an event type
 *   for payloads.
 */
export function nextKey(transition: Transition, kind: TranslationKind, id: string): string | undefined {
  if (kind === 'payloads') return nextEvents(transition, id)[0]
  if (kind === 'forms') {
    const on = transition.counterparts.get(operationOf(id))?.id
    return on && id.replace(operationOf(id), on)
  }
  if (kind !== 'statuses') return transition.counterparts.get(id)?.id
  const operation = operationOf(id)
  const on = transition.counterparts.get(operation)?.id
  const status = id.slice(operation.length + 1)
  return on && `${on} ${nextStatus(transition.statusNames.get(operation), status)}`
}

/** Returns the event types of the next version that replace one of the old version; several if it was split. */
export const nextEvents = ({ next, eventNames }: Transition, name: string): string[] =>
  next.events.map((event) => event.name).filter((each) => (eventNames.get(each) ?? each) === name)

/** Returns the key of the function that translates a value, or undefined if nothing changes. */
export function functionKey(transition: Transition, kind: ValueKind, id: string): string | undefined {
  if (kind === 'payloads') return transition.payloads.get(nextKey(transition, kind, id) ?? id)
  return transition[kind].get(id) ?? (kind === 'statuses' ? successKey(transition, id) : undefined)
}

/** Returns the key of the function for a request body: JSON, a batch, or a form. */
export function bodyKey({ bodies, items, forms }: Transition, id: string): string | undefined {
  return bodies.get(id) ?? items.get(id) ?? [...forms].find(([key]) => operationOf(key) === id)?.[1]
}

/**
 * Returns the key for a success that is an additional response in a different version: `getBook 202`, if one
 * version lists that first.
 */
function successKey({ old, answers }: Transition, id: string): string | undefined {
  const operation = old.operations.find((each) => each.id === operationOf(id))
  const success = operation && successOf(operation)
  return success && id === `${operation.id} ${success.status}` ? answers.get(operation.id) : undefined
}

/** Returns the operation id of a key such as `getBook 404`. */
const operationOf = (key: string): string => key.slice(0, key.lastIndexOf(' '))

export type StatusesOf = (id: string) => ReadonlySet<string>

/** Returns the statuses of an operation in all versions, because handlers may return any of them. */
export function statusesInFamily(apis: readonly Api[]): StatusesOf {
  const byId = new Map<string, Set<string>>()
  for (const { operations } of apis)
    for (const { id, responses } of operations) {
      const known = byId.get(id) ?? new Set()
      byId.set(id, known)
      for (const { status } of responses) known.add(status)
    }
  return (id) => byId.get(id) ?? new Set()
}

/**
 * Collects the translations between two versions.
 *
 * @param changes the changes that the newer version introduced.
 * @param statuses returns the statuses of an operation in all versions that handlers serve.
 */
export function createTransition(
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
  statuses: (id: string) => Iterable<string> = () => [],
): Transition {
  const lenses = changes.flatMap((change) => change.lenses)
  const up = createStep('up', old, next, changes)
  const down = createStep('down', old, next, changes)
  const roots: Record<
    'bodies' | 'forms' | 'items' | 'answers' | 'statuses' | 'payloads',
    Map<string, string>
  > = {
    bodies: new Map(),
    forms: new Map(),
    items: new Map(),
    answers: new Map(),
    statuses: new Map(),
    payloads: new Map(),
  }
  const parameters = {
    path: new Map(),
    query: new Map(),
    header: new Map(),
  } satisfies Transition['parameters']
  const counterparts = counterpartsOf(old, next, lenses)
  const names = new Map<string, ReadonlyMap<string, string>>()
  const statusNames = statusesOf(old, counterparts, lenses)
  const moves = new Map<string, readonly RequestMove[]>()
  for (const operation of old.operations) {
    const counterpart = counterparts.get(operation.id)
    if (!counterpart) continue
    const root = (
      where: keyof typeof roots,
      step: TranslationStep,
      one: Schema | undefined,
      other: Schema | undefined,
      at: string,
      part?: string,
    ) => {
      if (!one || !other) return
      const name = `${operation.id}_${part === undefined ? where : (SHORT_NAMES[part] ?? part)}`
      const key = part === undefined ? operation.id : `${operation.id} ${part}`
      const rewrite = step.pair(one, other, at)
      const whole = where === 'bodies' ? withFixed(rewrite, operation, step) : rewrite
      roots[where].set(key, rootKey(step, one, other, name, whole))
    }
    const [body, nextBody] = [jsonBody(operation), jsonBody(counterpart)]
    const [item, nextItem] = [
      body && validatedArray(old, body.schema),
      nextBody && validatedArray(next, nextBody.schema),
    ]
    const at = `${counterpart.id} body`
    if (item && nextItem)
      root('items', up, item.items, nextItem.items, `${at}${propertyStep(nextItem.property)}[]`)
    else root('bodies', up, body?.schema, nextBody?.schema, at)
    for (const { schema, mediaType } of formBodies(operation)) {
      const media = essenceOf(mediaType)
      const now = formBodies(counterpart).find((each) => essenceOf(each.mediaType) === media)
      root('forms', up, schema, now?.schema, at, media)
    }
    const success = successOf(operation)
    const nowOf = (status: string) => nextStatus(statusNames.get(operation.id), status)
    const [items, nextItems] = [streamOf(operation)?.items, streamOf(counterpart)?.items]
    const answerAt = `${counterpart.id} ${success && nowOf(success.status)}`
    if (items && nextItems) root('answers', down, items.items, nextItems.items, `${answerAt}[]`)
    else if (!items && !nextItems) root('answers', down, answerOf(operation), answerOf(counterpart), answerAt)
    for (const status of new Set([
      ...statusesIn(operation),
      ...statusesIn(counterpart),
      ...statuses(operation.id),
      ...statuses(counterpart.id),
    ])) {
      if (status === success?.status) continue
      const now = nowOf(status)
      const [one, other] = [responseFor(operation, status), responseFor(counterpart, now)]
      root('statuses', down, one && jsonOf(one), other && jsonOf(other), `${counterpart.id} ${now}`, status)
    }
    for (const part of PARTS) {
      const rewrites = rewritesOf(part, operation, counterpart, up)
      if (rewrites.length === 0) continue
      parameters[part].set(operation.id, rewrites)
      for (const { in: where, name, schema } of operation.parameters)
        if (where === part && rewrites.some(({ from }) => from === keyIn(part, name)))
          up.byHand.add(schema.place.pointer)
    }
    const own = requestMoves(operation, counterpart, up)
    if (own.length > 0) moves.set(operation.id, own)
    const renamed = new Map([
      ...renamesOf(operation, counterpart, lenses),
      ...own.flatMap(({ by: { lens } }) =>
        lens.to[0] === 'body' ? [] : [[lens.to[1], lens.from[1]] as const],
      ),
    ])
    if (renamed.size > 0) names.set(operation.id, renamed)
  }
  const eventNames = eventNamesOf(next, lenses)
  const events = new Map(old.events.map((event) => [event.name, event]))
  for (const { name, payload } of next.events) {
    const [one, other] = [events.get(eventNames.get(name) ?? name)?.payload?.schema, payload?.schema]
    if (one && other)
      roots.payloads.set(
        name,
        rootKey(down, one, other, `${name}_payload`, down.pair(one, other, `event ${name}`)),
      )
  }
  for (const step of [up, down]) auditOccurrences(step)
  const touched = { up: touchedFunctions(up), down: touchedFunctions(down) }
  return {
    old,
    next,
    ...touched,
    bodies: only(roots.bodies, touched.up),
    forms: only(roots.forms, touched.up),
    items: only(roots.items, touched.up),
    answers: only(roots.answers, touched.down),
    statuses: only(roots.statuses, touched.down),
    payloads: only(roots.payloads, touched.down),
    parameters,
    requestMoves: moves,
    counterparts,
    names,
    statusNames,
    eventNames,
    sites: new Set([...up.sites, ...down.sites]),
    missed: [...missedPlaces(up), ...missedPlaces(down)],
  }
}

/** Names of form encodings in the names of functions. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  'multipart/form-data': 'multipart',
  'application/x-www-form-urlencoded': 'form',
}

/** Returns the schema of a response that is JSON, or a list of the items of a stream. */
export const jsonOf = (response: Response): Schema | undefined => translatedContent(response)?.schema

const only = (roots: ReadonlyMap<string, string>, functions: ReadonlyMap<string, unknown>) =>
  new Map([...roots].filter(([, key]) => functions.has(key)))

const statusesIn = ({ responses }: ApiOperation): string[] => responses.map(({ status }) => status)

/** Returns the schema of the success response's body. */
export function answerOf(operation: ApiOperation): Schema | undefined {
  const success = successOf(operation)
  return success && jsonOf(success)
}

/** Returns the rewrite of a body with the properties that a lens fixes for its operation. */
export function withFixed(rewrite: Rewrite, operation: ApiOperation, step: TranslationStep): Rewrite {
  const served = servedBy(step, operation)
  const fixed = Object.entries(served?.lens.fixed?.body ?? {})
  if (!served || fixed.length === 0) return rewrite
  const members = fixed.map(
    ([name, value]) => ({ kind: 'default', name, value, known: false, change: served.change }) as const,
  )
  return { kind: 'all', parts: [rewrite, { kind: 'object', members }] }
}

/** Returns the key of a pair's function; creates the function if the schemas are not both components. */
export function rootKey(
  step: TranslationStep,
  old: Schema,
  next: Schema,
  name: string,
  rewrite: Rewrite,
): string {
  const bare = !old.nullable && !next.nullable
  if (rewrite.kind === 'call' && bare) return rewrite.key
  const { nullable } = step.direction === 'down' ? next : old
  step.functions.set(name, { key: name, old: name, next: name, nullable, rewrite })
  return name
}
