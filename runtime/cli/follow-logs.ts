/** The request log, followed by asking for it again and again: each request once, from now on. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { timeOfId } from '../platform/ids.ts'
import { type KeepReadingOptions, keepReading } from './keep-reading.ts'
import type { Reconnects } from './reconnects.ts'

type RequestLog = Schemas['RequestLog']

type LogQuery = NonNullable<NonNullable<Parameters<Client['listRequestLogs']>[0]>['query']>

/** Which requests are looked for. */
export type LogFilter = Pick<LogQuery, 'status' | 'method' | 'path' | 'operation' | 'request_id'>

export interface FollowLogsOptions extends KeepReadingOptions {
  readonly client: Client
  readonly filter: LogFilter
  /** The pause between two polls, in milliseconds. */
  readonly pollMs?: number
}

/** 60 polls a minute leave nearly all of the 1,000 reads that a tenant has. */
const POLL_MS = 1000

/** A request is logged after its answer, so that it may appear behind others that came later; this far back is looked. */
const LATE_MS = 30_000

/** The most that the service gives at once. */
const PAGE = 100

const TIMEOUT_MS = 30_000

/** What a tail knows between two polls. Times are those of the service, in milliseconds since the epoch. */
interface TailState {
  /** The request of its first poll: identifiers sort by time, so later ones are new. */
  first: string | undefined
  /** When the last poll that succeeded was made. */
  polledAt: number
  /** Identifiers of requests that were given, and when those came. */
  readonly given: Map<string, number>
}

/**
 * Requests that come from now on, oldest first.
 *
 * @throws ConnectionLostError when the service refuses for good, or did not answer within `giveUpMs`; the signal's reason
 *   after an abort.
 */
export function followLogs(options: FollowLogsOptions): AsyncGenerator<RequestLog, never> {
  const state: TailState = { first: undefined, polledAt: 0, given: new Map() }
  return keepReading(options, (reconnects) => pollOn(options, state, reconnects))
}

/** @returns why a poll failed. */
async function* pollOn(
  options: FollowLogsOptions,
  state: TailState,
  reconnects: Reconnects,
): AsyncGenerator<RequestLog, unknown> {
  const { signal, say, pollMs = POLL_MS } = options
  try {
    for (let isFirst = true; ; isFirst = false) {
      const fresh = await readNew(options, state, reconnects)
      reconnects.connected()
      if (isFirst) say('Connected. New requests appear within a few seconds. Press Ctrl-C to stop.')
      yield* fresh
      await wait(pollMs, undefined, { signal })
    }
  } catch (error) {
    return error
  }
}

/** One poll: the requests that were not given yet, oldest first. */
async function readNew(
  options: FollowLogsOptions,
  state: TailState,
  reconnects: Reconnects,
): Promise<readonly RequestLog[]> {
  const { first, polledAt, given } = state
  const from = first === undefined ? undefined : Math.max(timeOfId(first), polledAt - LATE_MS)
  const fresh: RequestLog[] = []
  let pollId: string | undefined
  let cursor: string | null = null
  do {
    const { data: page, requestId } = await readPage(options, from, cursor, reconnects)
    pollId ??= requestId
    const unknown = page.data.filter(({ id }) => first !== undefined && id > first && !given.has(id))
    // There is nothing to show before the tail began, and nothing new behind a page that is known.
    if (from === undefined || (page.data.length > 0 && unknown.length === 0)) break
    fresh.push(...unknown)
    cursor = page.next_cursor
  } while (cursor !== null)
  state.first ??= pollId
  // The service's clock may differ from this machine's: the identifier of a request holds its time.
  state.polledAt = timeOfId(pollId)
  for (const [id, created] of given) if (from !== undefined && created < from) given.delete(id)
  if (from === undefined) return []
  for (const { id, created } of fresh) given.set(id, Date.parse(created))
  return fresh.reverse()
}

async function readPage(
  { client, filter, signal }: FollowLogsOptions,
  from: number | undefined,
  cursor: string | null,
  reconnects: Reconnects,
) {
  const { data, response } = await client
    .listRequestLogs({
      query: {
        ...filter,
        limit: from === undefined ? 1 : PAGE,
        ...(from !== undefined && { 'created[gte]': new Date(from).toISOString() }),
        ...(cursor !== null && { starting_after: cursor }),
      },
      signal,
      maxRetries: 0,
      timeoutMs: Math.min(TIMEOUT_MS, reconnects.leftMs()),
    })
    .withResponse()
  return { data, requestId: response.headers.get('Request-Id') ?? '' }
}
