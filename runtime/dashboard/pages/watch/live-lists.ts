/** Live lists: rows of records appear and change on the page when events about them occur. */
import { setTimeout as wait } from 'node:timers/promises'
import { type ListOperation, records } from '../../../../generated/canonical/records.ts'
import type { SequencedEvent } from '../../../events/emit/queries.ts'
import type { EventStreams, StreamStart } from '../../../events/emit/streams.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { filtersOf, queryOf, readFilters } from '../../engine/filters.ts'
import { linkNaming } from '../../engine/links.ts'
import { columnsOf, writeRow } from '../../engine/list-page.ts'
import { type LiveSource, liveSourceOf } from '../../engine/live-types.ts'
import { operatePatiently } from '../../engine/patience.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ApiPage, DashboardResource, Identified } from '../../engine/shapes.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { EVENTS, type EventObject, subjectOf } from '../resources/events.ts'
import { openTail, seenBy, type Tails, writeMessage } from './tails.ts'
import { findPlace, type Watching } from './watching.ts'

/** A tail starts at most 1,000 events in the past, even if the page shows an older event. */
const MAX_BACK = 1000

/** The session and the tenant's space are checked again after 5 s, so a removed member or a wipe takes effect by then. */
const KNOWN_FOR_MS = 5000

/** Between two reads of a list, so that many events do not use up the rate limit of the tenant. */
const MIN_INTERVAL_MS = 2000

export function liveRoutes(
  resources: readonly DashboardResource<Identified>[],
  watching: Watching,
  tails: Tails,
): DashboardRoute[] {
  return resources.flatMap((resource) => {
    const source = liveSourceOf(resource.list.operation)
    if (!source) return []
    return ENVIRONMENTS.filter((each) => each === (resource.environment ?? each)).map((environment) => ({
      method: 'GET' as const,
      path: `/${environment}/${resource.path}/live`,
      environment,
      needs: roleFor(resource.list.operation),
      handle: (visit: DashboardVisit) =>
        openTail(tails, visit, () => open(watching, visit, resource, source)),
    }))
  })
}

async function open(
  watching: Watching,
  visit: DashboardVisit,
  resource: DashboardResource<Identified>,
  source: LiveSource,
): Promise<AsyncIterable<string>> {
  const asked = readFilters(visit, filtersOf(resource.list))
  const isEvents = resource.list.operation === EVENTS.list.operation
  const has = (type: string) =>
    isEvents && asked.type ? type === asked.type : source.types.some((each) => type.startsWith(each))
  return watching.streams[visit.environment].open({
    after: await startOf(watching, visit, source),
    response: visit.response,
    types: { has },
    read: source.readAfter,
    findSpace: rememberSpace(watching, visit),
    write: isEvents ? writeEvents(visit) : writeRecords(visit, resource),
  })
}

type WriteBatch = (events: readonly SequencedEvent[]) => Promise<string>

const readBody = ({ body }: SequencedEvent) => JSON.parse(body) as EventObject

function writeEvents(visit: DashboardVisit): WriteBatch {
  const columns = columnsOf(visit, EVENTS)
  return async (events) => {
    const shown = events.map(readBody)
    const link = await linkNaming(visit, shown.map(subjectOf))
    return shown.map((each) => writeMessage(each.id, writeRow(columns, each, link).text)).join('')
  }
}

/** Returns the times of creation of the records with the prefix that the events are about, by ID. NaN if it is unknown. */
function changedBy(events: readonly SequencedEvent[], prefix: string): ReadonlyMap<string, number> {
  const found = events.flatMap((event) => Object.values(readBody(event).data)) as readonly {
    readonly id: string
    readonly created?: string | number
  }[]
  return new Map(
    found
      .filter(({ id }) => id.startsWith(`${prefix}_`))
      .map(({ id, created = Number.NaN }) => [id, new Date(created).getTime()] as const),
  )
}

/**
 * Reads the changed records through the list operation with the filters of the page, so that only rows that match are sent. For other
 * changed records, a message of the type `unmatched` contains the ID.
 */
function writeRecords(visit: DashboardVisit, resource: DashboardResource<Identified>): WriteBatch {
  const { list } = resource
  const prefix = prefixOf(list.operation)
  const query = () => queryOf(visit, readFilters(visit, filtersOf(list)))
  const columns = columnsOf(visit, resource)
  let readAt = Number.NEGATIVE_INFINITY
  return async (events) => {
    const last = events.at(-1)
    const changed = changedBy(events, prefix)
    if (!last || changed.size === 0) return ''
    await wait(Math.max(0, readAt + MIN_INTERVAL_MS - performance.now()))
    readAt = performance.now()
    const times = [...changed.values()]
    const answer = await operatePatiently(visit, list.operation, {
      query: {
        ...query(),
        ...(!times.some(Number.isNaN) && {
          'created[gt]': new Date(Math.min(...times) - 1).toISOString(),
          'created[lte]': new Date(Math.max(...times)).toISOString(),
        }),
        limit: '100',
      },
    })
    // The page shows older rows until the next event.
    if (!answer.ok) return ''
    const { data, has_more } = answer.body as ApiPage<Identified>
    const rows = data.filter(({ id }) => changed.has(id)).toReversed()
    const link = await linkNaming(visit, rows)
    const found = new Set(rows.map(({ id }) => id))
    const unmatched = has_more ? [] : [...changed.keys()].filter((id) => !found.has(id))
    return [
      ...rows.map((row) => writeMessage(last.id, writeRow(columns, row, link).text)),
      ...unmatched.map((id) => `id: ${last.id}\nevent: unmatched\ndata: ${id}\n\n`),
    ].join('')
  }
}

function prefixOf(operation: ListOperation): string {
  const found = Object.entries(records).find(([, record]) => 'list' in record && record.list === operation)
  return found?.[0] ?? ''
}

async function startOf(watching: Watching, visit: DashboardVisit, source: LiveSource): Promise<StreamStart> {
  const { db, space } = await findPlace(watching, visit)
  const [head, seen] = await Promise.all([
    source.readHead(db, space),
    source.readPlace(db, space, seenBy(visit)),
  ])
  const earliest = head.sequence - MAX_BACK
  return seen && seen.sequence > earliest ? seen : head
}

/** Caches the space, because the stream looks it up many times a second. */
function rememberSpace(
  watching: Watching,
  visit: DashboardVisit,
): Parameters<EventStreams['open']>[0]['findSpace'] {
  let known: { readonly space: string; readonly until: number } | undefined
  return async () => {
    const now = performance.now()
    if (known && now < known.until) return known.space
    if (!(await visit.isSignedIn())) return undefined
    const { space } = await findPlace(watching, visit)
    known = { space, until: now + KNOWN_FOR_MS }
    return space
  }
}
