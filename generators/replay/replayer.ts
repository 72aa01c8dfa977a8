/** Replays records one by one, and counts what it finds. Each thread has its own. */
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api } from '../ir/model.ts'
import { RecordFault } from '../runtime/recorded.ts'
import { type CountedCallers, createTally, type RecordPlace } from '../runtime/replay-tally.ts'
import { readRecord, type TrafficHeaders } from './exchanges.ts'
import { createFamilyReplay } from './family.ts'
import type { SplitRecord } from './records.ts'

/** A record that could not be replayed, with its location. */
export interface BadRecord extends RecordPlace {
  readonly fault: string
}

/** Numbers of records. */
export interface ReplayCounts {
  replayed: number
  otherVersion: number
  noOperation: number
  bad: number
}

/** What a replayer counted, in a form that threads can exchange. */
export interface ReplayResult {
  readonly counts: ReplayCounts
  /** The first ones. */
  readonly bad: readonly BadRecord[]
  readonly callers: CountedCallers
}

/** The versions from the caller's to the later one, oldest first, and all changes of the family. */
export interface ReplayVersions {
  readonly apis: readonly Api[]
  readonly changes: readonly LoadedChange[]
}

/** A file of recorded traffic. */
export interface TrafficFile {
  readonly file: string
  readonly isHar: boolean
}

export interface Replayer {
  /** @param order number of the record among those of all files. */
  replay(file: TrafficFile, record: SplitRecord, at: number, order: number): void
  result(): ReplayResult
}

/** Bad records that are listed; the others are only counted. */
export const LISTED = 20

export function createReplayer({ apis, changes }: ReplayVersions, reading: TrafficHeaders): Replayer {
  const replayOne = createFamilyReplay(apis, changes)
  const from = apis[0]!.version
  const bases = basePathsOf(apis[0]!)
  const counts: ReplayCounts = { replayed: 0, otherVersion: 0, noOperation: 0, bad: 0 }
  const bad: BadRecord[] = []
  const tally = createTally()
  return {
    replay({ file, isHar }, record, index, order) {
      const at = isHar ? `${file} entry ${index}` : `${file}:${index}`
      try {
        if ('fault' in record) throw new RecordFault(record.fault)
        const exchange = readRecord(record, isHar, reading)
        const { version, target, caller } = exchange
        if (version !== undefined && version !== from) return void counts.otherVersion++
        const base = bases.find((each) => target.startsWith(each))
        const replayed =
          (base !== undefined && replayOne({ ...exchange, target: target.slice(base.length - 1) })) ||
          replayOne(exchange)
        if (!replayed) return void counts.noOperation++
        counts.replayed++
        tally.add(caller, replayed.operation, replayed.notes, { order, at })
      } catch (error) {
        if (!(error instanceof RecordFault)) throw error
        counts.bad++
        if (bad.length < LISTED) bad.push({ order, at, fault: error.message })
      }
    },
    result: () => ({ counts, bad, callers: tally.counted() }),
  }
}

/** Returns the paths of the servers, with a slash at the end, longest first. */
function basePathsOf({ servers }: Api): readonly string[] {
  const paths = servers.map(({ url }) =>
    url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/*$/, '/'),
  )
  return [...new Set(paths)].filter((path) => path.length > 1).sort((a, b) => b.length - a.length)
}
