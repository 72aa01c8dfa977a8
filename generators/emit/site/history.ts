/** Collects the differences of one operation or event between versions, to show them next to its documentation. */
import { diffApis } from '../../diff/diff.ts'
import { type Difference, formatLocation } from '../../diff/difference.ts'
import type { Api } from '../../ir/model.ts'

/** An operation or an event in a different version. */
export interface Counterpart {
  readonly version: string
  /** Its id or name in that version; undefined if the version does not have it. */
  readonly name: string | undefined
  readonly current: boolean
  /** Whether it differs from the version shown. */
  readonly differs: boolean
}

/** Differences that one version introduced. */
export interface HistoryStep {
  readonly version: string
  readonly lines: readonly { readonly where: string; readonly what: string }[]
}

export interface History {
  /** Newest first. */
  readonly counterparts: readonly Counterpart[]
  readonly steps: readonly HistoryStep[]
}

export interface Histories {
  ofOperation(version: string, id: string): History
  ofEvent(version: string, name: string): History
}

/** Differences that affect a larger share of a version's operations and events are shown for the version instead. */
const COMMON = 0.5

/** @param apis oldest first. */
export function readHistories(apis: readonly Api[]): Histories {
  const steps = apis.slice(1).map((next, index) => ownDifferences(apis[index]!, next))
  const historyOf = (version: string, nameIn: (api: Api) => string | undefined): History => {
    const shown = apis.findIndex((api) => api.version === version)
    const names = apis.map(nameIn)
    const lines = steps.map((step, index) => step.get(names[index + 1] ?? '') ?? [])
    const differs = (index: number) =>
      lines.slice(Math.min(index, shown), Math.max(index, shown)).some((each) => each.length > 0)
    const counterparts = apis.map((api, index) => ({
      version: api.version,
      name: names[index],
      current: index === shown,
      differs: names[index] !== undefined && differs(index),
    }))
    const told = apis.slice(1).map((api, index) => ({
      version: api.version,
      lines: names[index] === undefined ? [] : (lines[index] ?? []),
    }))
    return {
      counterparts: counterparts.toReversed(),
      steps: told.filter((step) => step.lines.length > 0).toReversed(),
    }
  }
  const operationOf = (version: string, id: string) =>
    apis.find((api) => api.version === version)?.operations.find((each) => each.id === id)
  return {
    ofOperation: (version, id) => {
      const own = operationOf(version, id)
      return historyOf(version, ({ operations }) => {
        const same = operations.find((each) => each.id === id)
        return (same ?? operations.find((each) => own?.method === each.method && own.path === each.path))?.id
      })
    },
    ofEvent: (version, name) =>
      historyOf(version, ({ events }) => events.find((each) => each.name === name)?.name),
  }
}

/** Returns differences by the operations and events of the newer version that they affect. */
function ownDifferences(old: Api, next: Api): ReadonlyMap<string, HistoryStep['lines']> {
  const sizes = [old, next].map(({ operations, events }) => operations.length + events.length)
  const most = Math.min(...sizes) * COMMON
  const found = new Map<string, HistoryStep['lines']>()
  for (const difference of diffApis(old, next)) {
    if (difference.uses.length > most && difference.uses.length > 1) continue
    for (const name of difference.uses)
      found.set(name, [...(found.get(name) ?? []), lineOf(difference, name)])
  }
  return found
}

/** Formats a difference. Omits the name of the operation or event that it is shown for. */
function lineOf({ at, message }: Difference, name: string): HistoryStep['lines'][number] {
  const where = formatLocation(at).replace(/^event /, '')
  const inside = where === name || where.startsWith(`${name} `) ? where.slice(name.length).trim() : where
  return { where: inside.replace(/^\./, ''), what: message }
}
