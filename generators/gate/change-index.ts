/**
 * The index of changes, stored with the output. With it, the gate detects a deleted change by name, even if the
 * change only affects behavior, which no document shows.
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
  /** JSON pointers into the documents of the previous and this version. */
  readonly old?: string
  readonly new?: string
}

/** Emits the index: every change with the first location that it affects. */
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

/** Returns the locations of a parameter whose behavior changed; it is in both documents. */
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

/**
 * Returns a finding for each change in the last written index that no longer exists, with the lines of both
 * documents.
 *
 * @param index text of that index.
 */
export function missingChanges(index: string, steps: readonly VersionPair[], placeIn: PlaceIn): Diagnostic[] {
  return readIndex(index).flatMap((entry) => {
    const step = steps.find(({ next }) => next.version === entry.version)
    if (!step || step.changes.some(({ id }) => id === entry.id)) return []
    return [
      {
        code: 'change-missing',
        severity: 'error',
        message: `the change ${entry.id} of ${entry.version} no longer exists, so these lines are not translated as before`,
        hint: 'restore the file; if you deleted it on purpose, run `dateline generate` and commit the result',
        ...(entry.new !== undefined && { place: placeIn(step.next.file, entry.new) }),
        ...(entry.old !== undefined && { other: placeIn(step.old.file, entry.old) }),
      } satisfies Diagnostic,
    ]
  })
}

/**
 * Returns no entries for an unreadable index (for example with merge conflict markers): the drift check reports
 * that file.
 */
function readIndex(text: string): readonly IndexedChange[] {
  try {
    const entries: unknown = JSON.parse(text)
    return Array.isArray(entries) ? entries.filter((each) => typeof each === 'object' && each !== null) : []
  } catch (cause) {
    if (cause instanceof SyntaxError) return []
    throw cause
  }
}

/** Returns the source location of a pointer in a document. */
export type PlaceIn = (file: string, pointer: string) => SourceLocation
