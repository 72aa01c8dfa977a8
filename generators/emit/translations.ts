/**
 * Translations between each version and head: one function per pair of components and direction for each step between
 * adjacent versions, composed where several steps change a value. What nothing on the way changes has no function.
 */
import { relative } from 'node:path'
import type { LoadedChange } from '../changes.ts'
import type { Report } from '../diagnostics.ts'
import type { Api, Operation, OutputFile } from '../ir/model.ts'
import type { PairFunction } from '../ir/translation-model.ts'
import { printFields } from './translations-fields.ts'
import { createFileOf, type StageFile } from './translations-file.ts'
import { printQuery } from './translations-query.ts'
import { createStage, type Stage } from './translations-stage.ts'

/** A function by its name and the version in whose file it stands. */
export interface Bound {
  readonly name: string
  readonly version: string
}

/** What an operation or an event of a version needs on its way to head and back; absent where nothing changes. */
export interface Bindings {
  down(operation: Operation): Bound | undefined
  upBody(operation: Operation): Bound | undefined
  upItem(operation: Operation): Bound | undefined
  upQuery(operation: Operation): Bound | undefined
  downField(operation: Operation): Bound | undefined
  downEvent(event: string): Bound | undefined
}

export interface Translations {
  readonly files: readonly OutputFile[]
  readonly bindings: ReadonlyMap<string, Bindings>
}

type Kind = 'answers' | 'bodies' | 'items' | 'payloads' | 'queries' | 'fields'

/** A version's own functions, and those of the whole way to head. */
interface Layer {
  readonly stage: Stage
  readonly file: StageFile
  readonly report: Report
  readonly later: Layer | undefined
  readonly bound: Map<string, Bound | undefined>
}

/**
 * @param apis oldest first.
 * @param out the folder that output goes to, from which changes are imported.
 */
export function emitTranslations(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  report: Report,
  out: string,
): Translations {
  const bindings = new Map<string, Bindings>()
  const files: OutputFile[] = []
  let later: Layer | undefined
  for (let index = apis.length - 2; index >= 0; index -= 1) {
    const [old, next] = [apis[index]!, apis[index + 1]!]
    const own = changes.filter((change) => change.version === next.version)
    const file = createFileOf(old.version, next.version, (change) =>
      relative(`${out}/translations`, change.file),
    )
    const layer: Layer = { stage: createStage(old, next, own), file, report, later, bound: new Map() }
    noteMissed(layer)
    bindings.set(old.version, bindAll(layer))
    const text = file.text()
    if (text !== undefined) files.unshift({ path: `translations/${old.version}.ts`, text })
    later = layer
  }
  return { files, bindings }
}

/** Prints everything that the version's operations and events need. */
/** Says once for a pair of versions what changes without anybody translating it. */
function noteMissed({ stage, report }: Layer): void {
  const [place] = stage.missed
  if (place) {
    report.add({
      code: 'value-not-translated',
      severity: 'warning',
      place,
      message: `values differ in ${stage.next.version} at positions of a list or at names by pattern, which no function translates (${stage.missed.length} such places)`,
      hint: 'describe them as properties or as items of one kind, or make both versions the same',
    })
  }
  const [first] = stage.others
  if (!first) return
  report.add({
    code: 'answer-not-translated',
    severity: 'warning',
    place: first.place,
    message: `answers with status ${first.status} differ in ${stage.next.version}, and only the first of success is translated (${stage.others.length} such answers)`,
    hint: 'make them the same, or translate them where they are written',
  })
}

function bindAll(layer: Layer): Bindings {
  const { old } = layer.stage
  for (const { id } of old.operations) {
    for (const kind of ['answers', 'bodies', 'items', 'queries', 'fields'] as const) boundTo(layer, kind, id)
  }
  for (const { name } of old.events) boundTo(layer, 'payloads', name)
  const found = (kind: Kind, id: string) => layer.bound.get(`${kind} ${id}`)
  return {
    down: ({ id }) => found('answers', id),
    upBody: ({ id }) => found('bodies', id),
    upItem: ({ id }) => found('items', id),
    upQuery: ({ id }) => found('queries', id),
    downField: ({ id }) => found('fields', id),
    downEvent: (event) => found('payloads', event),
  }
}

/** The function for the whole way between a version and head. */
function boundTo(layer: Layer, kind: Kind, id: string): Bound | undefined {
  const key = `${kind} ${id}`
  if (layer.bound.has(key)) return layer.bound.get(key)
  const own = ownFunction(layer, kind, id)
  const further = goesOn(layer, kind, id) && layer.later ? boundTo(layer.later, kind, id) : undefined
  const { version } = layer.stage.old
  const bound = own && further ? layer.file.compose(own, further, isUp(kind)) : own
  const result = bound === undefined ? further : { name: bound, version }
  layer.bound.set(key, result)
  return result
}

const isUp = (kind: Kind): boolean => kind === 'bodies' || kind === 'items' || kind === 'queries'

/** Whether the next version has it too: what it dropped is in head as the last version had it. */
function goesOn({ stage }: Layer, kind: Kind, id: string): boolean {
  return kind === 'payloads'
    ? stage.next.events.some((event) => event.name === id)
    : stage.next.operations.some((operation) => operation.id === id)
}

function ownFunction({ stage, file, report }: Layer, kind: Kind, id: string): string | undefined {
  switch (kind) {
    case 'queries':
      return printQuery(id, stage, file, report)
    case 'fields':
      return printFields(stage.bodies.get(id) ?? stage.items.get(id), stage, file)
    default: {
      const key = stage[kind].get(id)
      const direction = isUp(kind) ? 'up' : 'down'
      const functions: ReadonlyMap<string, PairFunction> = stage[direction]
      return key === undefined ? undefined : file.pair(key, direction, functions, report)
    }
  }
}
