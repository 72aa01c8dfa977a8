/**
 * Emits the translations between each version and the canonical one. Each version pair has one function for each
 * component pair and direction; functions are composed if several version pairs change a value. A value that does
 * not change has no function.
 */
import { relative } from 'node:path'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import { formBodies } from '../../ir/bodies.ts'
import { essenceOf } from '../../ir/media-type.ts'
import type { Api, ApiOperation, OutputFile } from '../../ir/model.ts'
import { successOf } from '../../ir/operations.ts'
import { compare } from '../../print/file.ts'
import { docComment, literal, stringLiteral } from '../../print/literal.ts'
import type { PairFunction } from '../../translate/model.ts'
import type { RequestMove } from '../../translate/requests.ts'
import {
  bodyKey,
  createTransition,
  functionKey,
  isUp,
  nextEvents,
  nextKey,
  type StatusesOf,
  statusesInFamily,
  type Transition,
  type TranslationKind,
} from '../../translate/transition.ts'
import { printFields } from './fields.ts'
import { createFileOf, type TransitionFile } from './file.ts'
import { printParameters } from './parameters.ts'

/** A function, by its name and the version whose file has it. */
export interface BoundFunction {
  readonly name: string
  readonly version: string
}

/** The translation functions for an operation or event of a version; absent if nothing changes. */
export interface TranslationBindings {
  down(operation: ApiOperation): BoundFunction | undefined
  upBody(operation: ApiOperation): BoundFunction | undefined
  upItem(operation: ApiOperation): BoundFunction | undefined
  upForm(operation: ApiOperation, media: string): BoundFunction | undefined
  upPath(operation: ApiOperation): BoundFunction | undefined
  upQuery(operation: ApiOperation): BoundFunction | undefined
  upHeaders(operation: ApiOperation): BoundFunction | undefined
  /** Replaces the functions of the parts. */
  upRequest(operation: ApiOperation): BoundFunction | undefined
  downField(operation: ApiOperation): BoundFunction | undefined
  /** @param event the canonical name. */
  downEvent(event: string): BoundFunction | undefined
  /**
   * By status, range or `default`: the functions for other responses, without those that equal the next wider one.
   */
  downs(operation: ApiOperation): ReadonlyMap<string, BoundFunction | undefined>
  /** The operation's id in the canonical version. */
  canonicalId(operation: ApiOperation): string
  /** The event types of the version by their canonical names. */
  readonly eventNames: ReadonlyMap<string, string>
  /** Canonical names of parameters and statuses → the version's own, if they differ. */
  names(operation: ApiOperation): ReadonlyMap<string, string>
  statusNames(operation: ApiOperation): ReadonlyMap<string, string>
}

export interface Translations {
  readonly files: readonly OutputFile[]
  readonly bindings: ReadonlyMap<string, TranslationBindings>
}

/** The functions of one version, and those of later versions up to the canonical one. */
interface Layer {
  readonly transition: Transition
  readonly file: TransitionFile
  readonly report: Report
  readonly later: Layer | undefined
  readonly bound: Map<string, BoundFunction | undefined>
}

/**
 * Emits the translation files.
 *
 * @param apis oldest first.
 * @param out the output folder, relative to which changes are imported.
 */
export function emitTranslations(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  report: Report,
  out: string,
): Translations {
  const bindings = new Map<string, TranslationBindings>()
  const files: OutputFile[] = []
  let later: Layer | undefined
  for (let index = apis.length - 2; index >= 0; index -= 1) {
    const [old, next] = [apis[index]!, apis[index + 1]!]
    const own = changes.filter((change) => change.version === next.version)
    const file = createFileOf(old, next, (change) => relative(`${out}/translations`, change.file))
    const statusesOf = statusesInFamily(apis.slice(index))
    const layer: Layer = {
      transition: createTransition(old, next, own, statusesOf),
      file,
      report,
      later,
      bound: new Map(),
    }
    noteMissed(layer)
    bindings.set(old.version, bindAll(layer, statusesOf))
    const text = file.text()
    if (text !== undefined) files.unshift({ path: `translations/${old.version}.ts`, text })
    later = layer
  }
  return { files, bindings }
}

/** Number of locations to report; the rest is only counted. */
const NAMED = 50

/** Reports the locations whose values differ without being translated. */
function noteMissed({ transition, report }: Layer): void {
  const { missed, next } = transition
  const rest = missed.length > NAMED ? `, and ${missed.length - NAMED} more such places` : ''
  for (const [index, place] of missed.slice(0, NAMED).entries())
    report.add({
      code: 'value-not-translated',
      severity: 'warning',
      place,
      message: `values here differ in ${next.version}, but are not translated${index === 0 ? rest : ''}`,
      hint: 'describe them as properties or items of JSON bodies and responses, make both versions equal, or translate them in the handler',
    })
}

/** Prints all functions that the version's operations and events need. */
function bindAll(layer: Layer, statusesOf: StatusesOf): TranslationBindings {
  const { old } = layer.transition
  const statusesFor = (id: string) => new Set([...statusesOf(id), ...statusesOf(canonicalIdOf(layer, id))])
  for (const operation of old.operations) {
    const { id } = operation
    for (const status of statusesFor(id))
      if (status !== successOf(operation)?.status) boundTo(layer, 'statuses', `${id} ${status}`)
    for (const { mediaType } of formBodies(operation))
      boundTo(layer, 'forms', `${id} ${essenceOf(mediaType)}`)
    for (const kind of [
      'request',
      'answers',
      'bodies',
      'items',
      'path',
      'query',
      'header',
      'fields',
    ] as const)
      boundTo(layer, kind, id)
  }
  const eventNames = new Map(
    old.events.flatMap(({ name }) => canonicalEvents(layer, name).map((canonical) => [canonical, name])),
  )
  for (const canonical of eventNames.keys()) boundTo(layer, 'payloads', canonical)
  const found = (kind: TranslationKind, id: string) => layer.bound.get(`${kind} ${id}`)
  const alone = (kind: TranslationKind, id: string) => (found('request', id) ? undefined : found(kind, id))
  return {
    down: ({ id }) => found('answers', id),
    upBody: ({ id }) => alone('bodies', id),
    upItem: ({ id }) => found('items', id),
    upForm: ({ id }, media) => found('forms', `${id} ${media}`),
    upPath: ({ id }) => alone('path', id),
    upQuery: ({ id }) => alone('query', id),
    upHeaders: ({ id }) => alone('header', id),
    upRequest: ({ id }) => found('request', id),
    downField: ({ id }) => found('fields', id),
    downEvent: (event) => found('payloads', event),
    downs: (operation) => {
      const { id } = operation
      const others = [...statusesFor(id)].filter((status) => status !== successOf(operation)?.status)
      const all = others.map((status) => [status, found('statuses', `${id} ${status}`)] as const)
      return narrowest(new Map(all), found('answers', id))
    },
    eventNames,
    canonicalId: ({ id }) => canonicalIdOf(layer, id),
    names: ({ id }) => wordsFor(layer, 'names', id),
    statusNames: ({ id }) => wordsFor(layer, 'statusNames', id),
  }
}

/** Returns the canonical names of an event type. A type that a later version removed keeps its name. */
function canonicalEvents({ transition, later }: Layer, name: string): string[] {
  const names = nextEvents(transition, name)
  if (names.length === 0) return [name]
  return later ? names.flatMap((each) => canonicalEvents(later, each)) : names
}

/** Returns the name of a canonical event type in the next version of a layer. */
function nextEventName({ later }: Layer, canonical: string): string {
  if (!later) return canonical
  const name = nextEventName(later, canonical)
  return later.transition.eventNames.get(name) ?? name
}

/**
 * Removes functions that equal those of a wider status.
 *
 * @param success the function for a success without its own.
 */
function narrowest(all: ReadonlyMap<string, BoundFunction | undefined>, success: BoundFunction | undefined) {
  const kept = new Map([...all].sort(([a], [b]) => compare(a, b)))
  const isSame = (a: BoundFunction | undefined, b: BoundFunction | undefined) =>
    a?.name === b?.name && a?.version === b?.version
  const wider = (status: string): BoundFunction | undefined => {
    const range = `${status.charAt(0)}XX`
    if (status !== range && kept.has(range)) return kept.get(range)
    if (/^[123]/.test(status)) return success
    return status === 'default' ? undefined : kept.get('default')
  }
  for (const [status, bound] of kept) if (isSame(bound, wider(status))) kept.delete(status)
  return kept
}

/** Returns the function for all version pairs between a version and the canonical one. */
function boundTo(layer: Layer, kind: TranslationKind, id: string): BoundFunction | undefined {
  const key = `${kind} ${id}`
  if (layer.bound.has(key)) return layer.bound.get(key)
  if (kind === 'request') return bindRequest(layer, id)
  const own = ownFunction(layer, kind, id)
  const on = kind === 'payloads' ? id : nextKey(layer.transition, kind, id)
  const further = on !== undefined && layer.later ? boundTo(layer.later, kind, on) : undefined
  const { version } = layer.transition.old
  const bound = own && further ? layer.file.compose(own, further, isUp(kind)) : own
  const result = bound === undefined ? further : { name: bound, version }
  layer.bound.set(key, result)
  return result
}

const REQUEST_PARTS = [
  ['path', 'path'],
  ['query', 'query'],
  ['headers', 'header'],
  ['body', 'bodies'],
] as const

/** Binds the function for all parts of a request, if a value moves between them in this version pair or a later one. */
function bindRequest(layer: Layer, id: string): BoundFunction | undefined {
  const { transition, later } = layer
  const moves = transition.requestMoves.get(id) ?? []
  const on = transition.counterparts.get(id)?.id
  const further = on !== undefined && later ? boundTo(later, 'request', on) : undefined
  const name = moves.length === 0 && !further ? undefined : printRequest(layer, id, moves, further, on)
  const bound = name === undefined ? undefined : { name, version: transition.old.version }
  layer.bound.set(`request ${id}`, bound)
  return bound
}

function printRequest(
  layer: Layer,
  id: string,
  moves: readonly RequestMove[],
  further: BoundFunction | undefined,
  on: string | undefined,
): string {
  const { file, later } = layer
  return file.declare(`${id}_request_up`, (name) => {
    const stage = (parts: readonly (readonly [string, string | undefined])[], more: readonly string[]) =>
      `${file.request()}({ ${[...parts.flatMap(([part, code]) => (code === undefined ? [] : [`${part}: ${code}`])), ...more].join(', ')} })`
    const listed = moves.map(({ from, to, by: { change, index, lens } }) =>
      [
        `{ from: ${literal(from)}, to: ${literal(to)}`,
        `change: ${stringLiteral(`${change.version}/${change.id}`)}`,
        ...(lens.up ? [`up: ${file.change(change)}.lenses[${index}].up!`] : []),
      ].join(', '),
    )
    const rest = REQUEST_PARTS.map(([part, kind]) => {
      const bound = on !== undefined && later ? boundTo(later, kind, on) : undefined
      return [part, bound && file.later(bound)] as const
    })
    const isTranslated = rest.some(([, code]) => code !== undefined)
    const then = further ? file.later(further) : isTranslated ? stage(rest, ['moves: []']) : undefined
    const own = REQUEST_PARTS.map(([part, kind]) => [part, ownFunction(layer, kind, id)] as const)
    return [
      docComment(`Requests of ${id}: ${file.version} → canonical.`).trimEnd(),
      `export const ${name} = ${stage(own, [
        `moves: [${listed.map((each) => `${each} }`).join(', ')}]`,
        ...(then === undefined ? [] : [`then: ${then}`]),
      ])}`,
    ]
  })
}

function canonicalIdOf({ transition, later }: Layer, id: string): string {
  const on = transition.counterparts.get(id)?.id
  if (on === undefined) return id
  return later ? canonicalIdOf(later, on) : on
}

/** Maps canonical names to the version's own names. */
function wordsFor(
  { transition, later }: Layer,
  kind: 'names' | 'statusNames',
  id: string,
): Map<string, string> {
  const own = new Map(transition[kind].get(id))
  const on = transition.counterparts.get(id)?.id
  if (!later || on === undefined) return own
  const further = wordsFor(later, kind, on)
  const told = [...further].map(([canonical, word]) => [canonical, own.get(word) ?? word] as const)
  const rest = [...own].filter(([word]) => ![...further.values()].includes(word))
  return new Map([...told, ...rest].filter(([canonical, word]) => canonical !== word))
}

function ownFunction(layer: Layer, kind: TranslationKind, id: string): string | undefined {
  const { transition, file, report } = layer
  switch (kind) {
    case 'path':
    case 'query':
    case 'header':
      return printParameters(kind, id, transition, file, report)
    case 'request':
      return undefined
    case 'payloads': {
      const key = transition.payloads.get(nextEventName(layer, id))
      return key === undefined ? undefined : file.pair(key, 'down', transition.down, report)
    }
    case 'fields':
      return printFields(bodyKey(transition, id), transition, file)
    default: {
      const key = functionKey(transition, kind, id)
      const direction = isUp(kind) ? 'up' : 'down'
      const functions: ReadonlyMap<string, PairFunction> = transition[direction]
      return key === undefined ? undefined : file.pair(key, direction, functions, report)
    }
  }
}
