/**
 * Replays a recorded exchange in a later version without sending it: finds the operation, validates request and answer in the
 * caller's version, and finds what an upgrade changes and what the later version refuses.
 */
import type { Operation, Parameter, Translate, Version } from './contract.ts'
import { findDifferences } from './differences.ts'
import { type Json, own } from './explain/walk.ts'
import { explain } from './explain.ts'
import { formats } from './formats.ts'
import { findDeprecated, jsonSchemaOf, type OperationObject, operationObject } from './operation-object.ts'
import {
  createQueryTable,
  ParameterError,
  type QueryTable,
  readHeader,
  readQuery,
  readSegment,
} from './parameters.ts'
import { createMatcher, splitPath } from './path-matcher.ts'

/** A request and its answer, as they were recorded. */
export interface RecordedExchange {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  /** By name in lower case. Absent if they were not recorded. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON value of the body. Absent without a body, or if the body was not recorded whole. */
  readonly body?: unknown
  readonly status?: number
  readonly answer?: unknown
}

/**
 * - `breaks`: the later version refuses the request as it was sent.
 * - `silent`: the later version accepts this part of the request as it was sent, but reads it otherwise.
 * - `changes`: an upgrade changes this part of the request.
 * - `answer`: an upgrade changes this part of the answer.
 * - `deprecated`: the exchange uses something that the caller's version deprecates.
 * - `unfit`: the changes translate the request to one that the later version refuses.
 * - `invalid`: the request or answer does not fit the caller's own version.
 */
export type ReplayKind = 'breaks' | 'silent' | 'changes' | 'answer' | 'deprecated' | 'unfit' | 'invalid'

/** What a replay found at one part of an exchange. */
export interface ReplayNote {
  readonly kind: ReplayKind
  /** `body.items[].name`, `query.limit`, `header.Idempotency-Key`, `answer.data[].title`, or `operation`. */
  readonly field: string
  readonly detail: string
}

export interface ReplayedExchange {
  /** Id of the operation, as the later version names it. */
  readonly operation: string
  readonly notes: readonly ReplayNote[]
}

/** A version, with its document as plain JSON. */
export interface ReplaySide {
  readonly version: Pick<Version<unknown, unknown, string>, 'name' | 'operations'>
  readonly document: Json
}

/** The caller's version, and how its exchanges translate to the later one. */
export interface ReplayFrom extends ReplaySide {
  /** Whether the rows of `version` translate requests to exactly the later version. */
  readonly translates: boolean
  /** Returns the translation of a successful answer to the later version, if there is one. */
  readonly answerUp?: (operation: string) => Translate | undefined
}

/** Maximum number of faults and differences of one part of an exchange. */
const MOST = 20

/** Text that a recorder writes in place of a secret. */
const REDACTED: ReadonlySet<unknown> = new Set(['[redacted]', '[REDACTED]', '***'])

interface ReplayRoute {
  readonly operation: Operation
  readonly pathNames: readonly string[]
  readonly query: QueryTable
  readonly described: OperationObject | undefined
}

interface Field {
  readonly field: string
  readonly issue: string
}

/** A part that its schema refuses. */
interface Fault extends Field {
  /** The refused value. */
  readonly value: unknown
}

/** The parts of a request, in one version. */
interface RequestParts {
  readonly path: Json
  readonly query: Json
  readonly headers: Json
  readonly body: unknown
}

/** Returns a function that replays an exchange. It returns undefined if the caller's version has no such operation. */
export function createReplay(
  from: ReplayFrom,
  to: ReplaySide,
): (exchange: RecordedExchange) => ReplayedExchange | undefined {
  const before = from.version.operations.map((operation) => routeOf(operation, from.document))
  const after = to.version.operations.map((operation) => routeOf(operation, to.document))
  const [beforeMatcher, afterMatcher] = [createMatcher(before), createMatcher(after)]
  const afterById = new Map(after.map((route) => [route.operation.id, route]))
  return (exchange) => {
    const { path, search } = splitTarget(exchange.target)
    const match = beforeMatcher.match(path)
    const route = match?.routes.get(exchange.method)
    if (!match || !route) return undefined
    const notes: ReplayNote[] = []
    const replayed = { operation: route.operation.id, notes }
    const add = (kind: ReplayKind, all: readonly Field[]) => {
      for (const { field, issue } of all) notes.push({ kind, field: fieldOf(field), detail: issue })
    }
    const given = readRequest(route, from.document, exchange, match.values, search)
    add('invalid', given.faults)
    add('deprecated', findDeprecated(route.described, from.document, given.parts))
    if (exchange.answer !== undefined && exchange.status !== undefined)
      replayAnswer(route, from, exchange.status, exchange.answer, add)
    const next = afterById.get(route.operation.id)
    if (!next) add('breaks', [{ field: 'operation', issue: 'does not exist' }])
    // A request that its own version refuses has no meaning that could be translated.
    if (!next || given.faults.length > 0) return replayed
    const here = afterMatcher.match(path)
    const asSent =
      here?.routes.get(exchange.method) === next
        ? readRequest(next, to.document, exchange, here.values, search).faults
        : [{ field: 'operation', issue: `is now ${next.operation.method} ${next.operation.path}` }]
    add('breaks', asSent)
    // The mark in place of a secret cannot be translated.
    if (!from.translates || given.isRedacted) return replayed
    const translated = attempt(() => translateUp(route.operation, given.parts))
    if ('thrown' in translated) {
      add('unfit', [{ field: 'operation', issue: `is not translated: ${translated.thrown}` }])
      return replayed
    }
    const differences = differencesOf(given.parts, translated)
    // A value that the later version accepts and reads otherwise stays wrong when the caller has corrected the rest.
    const isSilent = ({ field, issue }: Field) =>
      asSent.length === 0 || (issue === CHANGES && !asSent.some((each) => fieldOf(each.field) === field))
    add('silent', differences.filter(isSilent))
    add(
      'changes',
      differences.filter((each) => !isSilent(each)),
    )
    if (differences.length > 0) add('unfit', faultsOf(next, to.document, translated))
    return replayed
  }
}

const routeOf = (operation: Operation, document: Json): ReplayRoute => ({
  operation,
  pathNames: splitPath(operation.path)
    .filter((segment) => segment.startsWith('{'))
    .map((segment) => segment.slice(1, -1)),
  query: createQueryTable(operation.query),
  described: operationObject(document, operation),
})

function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const at = target.indexOf('?')
  return at < 0 ? { path: target, search: '' } : { path: target.slice(0, at), search: target.slice(at + 1) }
}

/** Joins all items of a list to one field, so that findings can be counted. */
const fieldOf = (field: string): string => field.replaceAll(/\[[^\]]*\]/g, '[]')

/** Reads a request from its text, as the version does. */
function readRequest(
  route: ReplayRoute,
  document: Json,
  { headers, body }: RecordedExchange,
  pathValues: readonly string[],
  search: string,
): { readonly parts: RequestParts; readonly faults: readonly Field[]; readonly isRedacted: boolean } {
  const { operation, pathNames } = route
  const faults: Fault[] = []
  const read = <Value>(where: string, all: () => Value): Value | Record<never, never> => {
    try {
      return all()
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      faults.push(parameterFault(where, document, error))
      return {}
    }
  }
  const parts = {
    path: read('path', () =>
      Object.fromEntries(
        operation.pathParameters.map((row) => [
          row.name,
          readSegment(row, pathValues[pathNames.indexOf(row.name)]!),
        ]),
      ),
    ),
    query: read('query', () => readQuery(route.query, search)),
    headers: headers ? read('header', () => readHeaders(operation.headers, headers)) : {},
    body,
  }
  const all = [...faults, ...bodyFaults(operation, document, body)]
  const real = all.filter(isReal)
  return { parts, faults: real, isRedacted: real.length < all.length }
}

const isReal = ({ value }: Fault): boolean => !REDACTED.has(value)

function parameterFault(where: string, document: Json, { field, issue, refused }: ParameterError): Fault {
  const [first] = refused ? explain(document, refused.parameter.pointer, refused.value, formats, 1) : []
  return { field: `${where}.${field}`, issue: first?.issue ?? issue, value: refused?.value }
}

function readHeaders(rows: readonly Parameter[], headers: Readonly<Record<string, string>>): Json {
  const values: Record<string, unknown> = {}
  for (const row of rows) {
    const name = row.name.toLowerCase()
    const text = headers[name]
    if (text !== undefined) values[name] = readHeader(row, text)
    else if (row.required) throw new ParameterError('missing', row.name, 'is required')
  }
  return values
}

function bodyFaults({ body: row }: Operation, document: Json, body: unknown): readonly Fault[] {
  // A body may be absent because it was not recorded.
  if (!row || body === undefined) return []
  const faults = row.validate(body) ? [] : valueFaults('body', document, row.pointer, body)
  const each = itemsOf(row, body)
  if (!each) return faults
  const { property, pointer, validate, items } = each
  return [
    ...faults,
    ...items.flatMap((item) =>
      validate(item) ? [] : valueFaults(`body.${property}[]`, document, pointer, item),
    ),
  ].slice(0, MOST)
}

/** Returns the items of a body whose items are checked one by one, and how. */
function itemsOf({ each }: NonNullable<Operation['body']>, body: unknown) {
  const items: unknown = each && own(body, each.property)
  return each && Array.isArray(items) ? { ...each, items: items as readonly unknown[] } : undefined
}

function valueFaults(where: string, document: Json, pointer: string, value: unknown): readonly Fault[] {
  return explain(document, pointer, value, formats, MOST).map(({ path, field, issue }) => ({
    field: within(where, field),
    issue,
    value: path.reduce<unknown>((inner, step) => own(inner, String(step)), value),
  }))
}

const within = (where: string, field: string): string =>
  field === '' ? where : field.startsWith('[') ? where + field : `${where}.${field}`

function replayAnswer(
  { operation, described }: ReplayRoute,
  from: ReplayFrom,
  status: number,
  answer: unknown,
  add: (kind: ReplayKind, all: readonly Field[]) => void,
): void {
  const pointer = described && jsonSchemaOf(described, from.document, status)
  const faults = pointer === undefined ? [] : valueFaults('answer', from.document, pointer, answer)
  add('invalid', faults.filter(isReal))
  const up = status === operation.status && faults.length === 0 ? from.answerUp?.(operation.id) : undefined
  if (!up) return
  const translated = attempt(() => ({ value: call(up, answer) }))
  add(
    'answer',
    'thrown' in translated
      ? [{ field: 'answer', issue: `is not translated: ${translated.thrown}` }]
      : changedFields('answer', answer, translated.value),
  )
}

/** Lenses are code of the family, which may throw. */
function attempt<Value extends object>(work: () => Value): Value | { readonly thrown: string } {
  try {
    return work()
  } catch (error) {
    return { thrown: error instanceof Error ? error.message : String(error) }
  }
}

/** The route pairs functions with values; the types do not. */
const call = (translate: Translate | undefined, value: unknown): unknown =>
  translate ? translate(value as never) : value

function translateUp(operation: Operation, { path, query, headers, body }: RequestParts): RequestParts {
  const { upPath, upQuery, upHeaders, upBody, body: row } = operation
  const each = row && itemsOf(row, body)
  const translated = each?.up
    ? { ...(body as Json), [each.property]: each.items.map((item) => call(each.up, item)) }
    : body === undefined
      ? undefined
      : call(upBody, body)
  return {
    path: call(upPath, path) as Json,
    query: call(upQuery, query) as Json,
    headers: call(upHeaders, headers) as Json,
    body: translated,
  }
}

const differencesOf = (before: RequestParts, after: RequestParts): readonly Field[] => [
  ...changedFields('path', before.path, after.path),
  ...changedFields('query', withoutLists(before.query), withoutLists(after.query)),
  ...changedFields('header', before.headers, after.headers),
  ...changedFields('body', before.body, after.body),
]

/** Equality filters become lists when they are translated. */
const withoutLists = (query: Json): Json =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      Array.isArray(value) && value.length === 1 ? value[0] : value,
    ]),
  )

const CHANGES = 'has a different value'

function changedFields(where: string, before: unknown, after: unknown): readonly Field[] {
  if (before === after) return []
  const fields = new Map<string, Field>()
  for (const each of findDifferences(before, after, MOST)) {
    const field = fieldOf(within(where, each.path))
    const issue = each.before === undefined ? 'is added' : each.after === undefined ? 'is removed' : CHANGES
    fields.set(`${field} ${issue}`, { field, issue })
  }
  return [...fields.values()]
}

/** Returns what the later version refuses of a translated request. */
function faultsOf({ operation }: ReplayRoute, document: Json, parts: RequestParts): readonly Field[] {
  const { pathParameters, query, headers } = operation
  return [
    ...invalidValues('path', pathParameters, parts.path),
    ...invalidValues('query', query, parts.query),
    ...invalidValues('header', headers, parts.headers, true),
    ...bodyFaults(operation, document, parts.body),
  ]
}

function invalidValues(
  where: string,
  rows: readonly Parameter[],
  values: Json,
  isLower = false,
): readonly Field[] {
  return rows.flatMap(({ name, validate, set }) => {
    const value = values[isLower ? name.toLowerCase() : name]
    const all = value === undefined ? [] : set && Array.isArray(value) ? value : [value]
    return all.every((each) => validate(each))
      ? []
      : [{ field: `${where}.${name}`, issue: 'does not match its schema' }]
  })
}
