/**
 * The laws of a removed version: the version before it gets the same translations in one step as it got in two.
 */
import { isDeepStrictEqual } from 'node:util'
import { counterpartsOf, nextStatus, statusesOf } from '../change/align.ts'
import { responseFor } from '../diff/answers.ts'
import { applyFieldRules, fieldRules } from '../emit/translations/fields.ts'
import type { VersionPair } from '../gate/steps.ts'
import { formBodies, jsonBody, streamOf, validatedArray } from '../ir/bodies.ts'
import { essenceOf } from '../ir/media-type.ts'
import type { Api, Schema } from '../ir/model.ts'
import { successOf } from '../ir/operations.ts'
import { applyRewrite } from '../translate/apply.ts'
import { applyParameters, PARTS, type ParameterPart } from '../translate/parameters.ts'
import {
  answerOf,
  bodyKey,
  createTransition,
  functionKey,
  isUp,
  jsonOf,
  nextKey,
  type StatusesOf,
  type Transition,
  type ValueKind,
} from '../translate/transition.ts'
import type { Domains } from '../values/arbitrary.ts'
import { misfit, sent } from '../values/validity.ts'
import { freeze, type Law } from './law.ts'
import { isValid, type Sides, told } from './lenses.ts'
import { requestValues } from './parameters.ts'
import { sidesOf } from './steps.ts'

/** The steps from a version to the one after a removed version. */
export interface Squash {
  /** Both steps, oldest first. */
  readonly before: readonly VersionPair[]
  /** The step that replaces them. */
  readonly after: VersionPair
  /** Statuses that handlers may return. */
  readonly statuses: StatusesOf
}

type Translate = (value: unknown) => unknown
type Transitions = readonly Transition[]

/**
 * Returns the laws for everything that either way translates.
 *
 * @param domains meaningful values by component.
 */
export function equalityLaws({ before, after, statuses }: Squash, domains: Domains): Law[] {
  const toTransition = ({ old, next, changes }: VersionPair) => createTransition(old, next, changes, statuses)
  const ways: Ways = { before: before.map(toTransition), after: [toTransition(after)] }
  const sides = sidesOf(after, domains, misfit)
  return [...operationLaws(ways, after, sides, statuses), ...eventLaws(ways, after, sides)]
}

/** The translations in two steps, and in one. */
interface Ways {
  readonly before: Transitions
  readonly after: Transitions
}

function operationLaws(
  ways: Ways,
  { old, next, changes }: VersionPair,
  sides: Sides,
  statuses: StatusesOf,
): Law[] {
  const lenses = changes.flatMap((change) => change.lenses)
  const counterparts = counterpartsOf(old, next, lenses)
  const statusNames = statusesOf(old, counterparts, lenses)
  const laws = new Map<string, Law>()
  const add = (kind: ValueKind, id: string, api: Api, schema: Schema | undefined) => {
    const law = schema && valueLaw(ways, kind, id, sides, api, schema)
    if (law) laws.set(law.name, law)
  }
  for (const operation of old.operations) {
    const { id } = operation
    const now = counterparts.get(id)
    if (!now) continue
    const body = jsonBody(operation)?.schema
    add('bodies', id, old, body)
    add('items', id, old, body && validatedArray(old, body)?.items)
    for (const form of formBodies(operation))
      add('forms', `${id} ${essenceOf(form.mediaType)}`, old, form.schema)
    add('answers', id, next, streamOf(now)?.items?.items ?? answerOf(now))
    for (const status of new Set([...statuses(id), ...statuses(now.id)])) {
      if (status === successOf(operation)?.status) continue
      const response = responseFor(now, nextStatus(statusNames.get(id), status))
      add('statuses', `${id} ${status}`, next, response && jsonOf(response))
    }
    for (const part of PARTS) {
      const law = lawOf(
        `${id} ${part}`,
        parametersAlong(ways.before, part, id),
        parametersAlong(ways.after, part, id),
        () => requestValues(sides, part, operation),
      )
      if (law) laws.set(law.name, law)
    }
    const law = body && fieldLaw(ways, id, sides, body)
    if (law) laws.set(law.name, law)
  }
  return [...laws.values()]
}

function eventLaws(ways: Ways, { old, next }: VersionPair, sides: Sides): Law[] {
  return old.events.flatMap(({ name }) => {
    const schema = next.events.find((event) => event.name === name)?.payload?.schema
    return (schema && valueLaw(ways, 'payloads', name, sides, next, schema)) ?? []
  })
}

function valueLaw(
  { before, after }: Ways,
  kind: ValueKind,
  id: string,
  { makers }: Sides,
  api: Api,
  schema: Schema,
): Law | undefined {
  const direction = isUp(kind) ? 'up' : 'down'
  return lawOf(`${id} ${NAMES[kind]}`.trim(), along(before, kind, id), along(after, kind, id), () => ({
    values: makers[direction](schema),
    fits: (value) => isValid(api, schema, value, direction),
  }))
}

const NAMES: Readonly<Record<ValueKind, string>> = {
  bodies: 'body',
  forms: '',
  items: 'item',
  answers: 'answer',
  statuses: '',
  payloads: 'event',
}

/** @returns undefined if neither way translates anything. */
function lawOf(
  name: string,
  before: readonly Translate[],
  after: readonly Translate[],
  values: () => Pick<Law, 'values' | 'fits'>,
): Law | undefined {
  if (before.length === 0 && after.length === 0) return undefined
  return {
    name,
    ...values(),
    check: (value) => differenceOf(applyAll(before, value), applyAll(after, value)),
  }
}

function differenceOf(before: unknown, after: unknown): ReturnType<Law['check']> {
  if (isDeepStrictEqual(before, after)) return undefined
  return {
    code: 'proof-differs',
    message: `it becomes ${told(after)} in one step and ${told(before)} in two`,
  }
}

const applyAll = (translations: readonly Translate[], value: unknown): unknown =>
  sent(translations.reduce((made, translate) => translate(freeze(structuredClone(made))), value))

/** Returns the translations of a value, in the order in which they apply. */
function along([first, ...later]: Transitions, kind: ValueKind, id: string): Translate[] {
  if (!first) return []
  const direction = isUp(kind) ? 'up' : 'down'
  const key = functionKey(first, kind, id)
  const by = { direction, functions: first[direction] } as const
  const own: Translate[] =
    key === undefined ? [] : [(value) => applyRewrite({ kind: 'call', key }, value, by)]
  const on = nextKey(first, kind, id)
  const further = on === undefined ? [] : along(later, kind, on)
  return isUp(kind) ? [...own, ...further] : [...further, ...own]
}

function parametersAlong([first, ...later]: Transitions, part: ParameterPart, id: string): Translate[] {
  if (!first) return []
  const rewrites = first.parameters[part].get(id)
  const on = nextKey(first, part, id)
  return [
    ...(rewrites
      ? [(value: unknown) => applyParameters(rewrites, value as Readonly<Record<string, unknown>>)]
      : []),
    ...(on === undefined ? [] : parametersAlong(later, part, on)),
  ]
}

/** The law that errors name the same fields. Its fields are those of translated bodies. */
function fieldLaw(
  { before, after }: Ways,
  id: string,
  { makers, old: api }: Sides,
  schema: Schema,
): Law | undefined {
  const [one, other] = [fieldsAlong(before, id), fieldsAlong(after, id)]
  const up = along(after, 'bodies', id)
  return lawOf(`${id} field`, one, other, () => ({
    values: makers
      .up(schema)
      .map((body) => (isValid(api, schema, body, 'up') ? fieldsOf(applyAll(up, body)) : [])),
    fits: () => true,
  }))
}

/** Returns a function for each step that renames a list of fields. */
function fieldsAlong([first, ...later]: Transitions, id: string): Translate[] {
  if (!first) return []
  const rules = fieldRules(bodyKey(first, id), first)
  const on = nextKey(first, 'fields', id)
  return [
    ...(on === undefined ? [] : fieldsAlong(later, on)),
    ...(rules.length > 0
      ? [(fields: unknown) => (fields as readonly string[]).map((field) => applyFieldRules(rules, field))]
      : []),
  ]
}

/** Returns the fields of a body as errors name them: `items[0].name`. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => fieldsOf(each, `${path}[${index}]`))
  const own = path === '' ? [] : [path]
  if (typeof value !== 'object' || value === null) return own
  const inner = Object.entries(value).flatMap(([name, each]) =>
    fieldsOf(each, path === '' ? name : `${path}.${name}`),
  )
  return [...own, ...inner]
}
