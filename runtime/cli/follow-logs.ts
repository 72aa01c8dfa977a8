/** Follows the request log by polling: yields each new request once. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { isId, timeOfId } from '../platform/ids.ts'
import { ConnectionLostError, type KeepReadingOptions, keepReading } from './keep-reading.ts'
import type { Reconnects } from './reconnects.ts'

type RequestLog = Schemas['RequestLog']

type LogQuery = NonNullable<NonNullable<Parameters<Client['listRequestLogs']>[0]>['query']>

export type LogFilter = Pick<LogQuery, 'status' | 'method' | 'path' | 'operation' | 'request_id'>

export interface FollowLogsOptions extends KeepReadingOptions {
  readonly client: Client
  readonly filter: LogFilter
  /** Pause between two polls, in milliseconds. */
  readonly pollMs?: number
}

/** 60 polls a minute use only a small part of a tenant's 1,000 reads per minute. */
const POLL_MS = 1000

/**
 * Requests are logged after the response, so a request can appear after later ones. Each poll therefore looks back this far.
 */
const LATE_MS = 30_000

/** Maximum page size of the API. */
const PAGE = 100

const TIMEOUT_MS = 30_000

/** State between two polls. Times come from the API's clock, in milliseconds since the epoch. */
interface TailState {
  /** Identifier of the first poll's own request. Identifiers sort by time, so later ones are new. */
  first: string | undefined
  /** Time of the last successful poll. */
  polledAt: number
  /** Identifiers of the requests already yielded, with their times. */
  readonly given: Map<string, number>
}

/**
 * Yields new requests, oldest first.
 * @throws ConnectionLostError if the API refuses permanently, or does not respond for `giveUpMs`; the signal's reason after
 * an abort.
 */
export function followLogs(options: FollowLogsOptions): AsyncGenerator<RequestLog, never> {
  const state: TailState = { first: undefined, polledAt: 0, given: new Map() }
  return keepReading(options, (reconnects) => pollOn(options, state, reconnects))
}

/** Polls until a poll fails. Returns the error. */
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

/** Polls once and returns the new requests, oldest first. */
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
    // Stop on the first poll, because older requests are not shown, or when a page contains no new request.
    if (from === undefined || (page.data.length > 0 && unknown.length === 0)) break
    fresh.push(...unknown)
    cursor = page.next_cursor
  } while (cursor !== null)
  state.first ??= pollId
  // Use the time in the request's identifier, because the API's clock may differ from this machine's.
  state.polledAt = timeOfId(pollId)
  for (const [id, created] of given) if (from !== undefined && created < from) given.delete(id)
  if (from === undefined) return []
  for (const { id, created } of fresh) given.set(id, Date.parse(created))
  // Failed polls are logged, successful ones are not. Neither is shown.
  return fresh.filter(({ operation }) => operation !== 'listRequestLogs').reverse()
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
  const requestId = response.headers.get('Request-Id') ?? ''
  if (!isId('req', requestId))
    throw new ConnectionLostError(
      'the response has no Request-Id header, which tells new requests apart: configure the proxy before the API to keep it',
    )
  return { data, requestId }
}
