/**
 * The index of changes, kept with the output: so that a change that is lost is missed by name, also one of behaviour,
 * which no document shows.
 */

import { holdsIn, sameName } from '../change/align.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, OutputFile } from '../ir/model.ts'
import type { VersionPair } from './steps.ts'

export const CHANGE_INDEX = 'changes.json'

interface IndexedChange {
  readonly version: string
  readonly id: string
  /** JSON pointers into the document before and the document of the version. */
  readonly old?: string
  readonly new?: string
}

/** @returns the index: every change, and the first place that it is about. */
export function emitChangeIndex(steps: readonly VersionPair[]): OutputFile {
  const entries = steps.flatMap((step) => step.changes.map((change) => entryOf(step, change)))
  return { path: CHANGE_INDEX, text: `${JSON.stringify(entries, null, 2)}\n` }
}

function entryOf(step: VersionPair, change: VersionPair['changes'][number]): IndexedChange {
  const claimed = step.claimed.find(({ by }) => by.includes(change))?.difference
  const places = claimed ?? behaviourOf(step, change)
  return {
    version: change.version,
    id: change.id,
    ...(places?.old && { old: places.old.pointer }),
    ...(places?.new && { new: places.new.pointer }),
  }
}

interface Places {
  readonly old?: SourceLocation
  readonly new?: SourceLocation
}

/** A parameter whose meaning alone changed stands in both documents. */
function behaviourOf({ old, next }: VersionPair, change: VersionPair['changes'][number]): Places | undefined {
  for (const lens of change.lenses) {
    if (lens.kind !== 'ignored-parameter') continue
    const placeIn = (api: Api) =>
      api.operations
        .filter(({ id }) => holdsIn(lens.operations, id))
        .flatMap(({ parameters }) => parameters)
        .find((each) => each.in === lens.in && sameName(lens.in, each.name, lens.name))?.place
    const [before, after] = [placeIn(old), placeIn(next)]
    return { ...(before && { old: before }), ...(after && { new: after }) }
  }
  return undefined
}

/** @param index what was written last. @returns a complaint about each change of it that is gone, at both documents' lines. */
export function missingChanges(index: string, steps: readonly VersionPair[], placeIn: PlaceIn): Diagnostic[] {
  return readIndex(index).flatMap((entry) => {
    const step = steps.find(({ next }) => next.version === entry.version)
    if (!step || step.changes.some(({ id }) => id === entry.id)) return []
    return [
      {
        code: 'change-missing',
        severity: 'error',
        message: `the change ${entry.id} of ${entry.version} is gone, and what it said of these lines with it`,
        hint: 'restore the file; or, if it is meant, run `dateline generate` and commit the result',
        ...(entry.new !== undefined && { place: placeIn(step.next.file, entry.new) }),
        ...(entry.old !== undefined && { other: placeIn(step.old.file, entry.old) }),
      } satisfies Diagnostic,
    ]
  })
}

/** What cannot be read, after a merge that went wrong for example, is drift and is said as such. */
function readIndex(text: string): readonly IndexedChange[] {
  try {
    const entries: unknown = JSON.parse(text)
    return Array.isArray(entries) ? entries.filter((each) => typeof each === 'object' && each !== null) : []
  } catch (cause) {
    if (cause instanceof SyntaxError) return []
    throw cause
  }
}

/** Where a pointer stands in a document. */
export type PlaceIn = (file: string, pointer: string) => SourceLocation
