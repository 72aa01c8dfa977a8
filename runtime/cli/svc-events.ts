/** `svc events`: lists, shows and resends events. */
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { tabulate, tabulateRecords } from './print.ts'
import type { SvcSession, SvcTerminal } from './svc-session.ts'

type Event = Schemas['Event']

/** Maximum page size of the API. */
const PAGE = 100

/** Prints one event in full. */
export async function showEvent(
  { client }: SvcSession,
  id: string,
  { json, print }: SvcTerminal,
): Promise<void> {
  const event = await client.getEvent({ path: { event_id: id } })
  print(JSON.stringify(event, null, json ? 0 : 2))
}

/** Prints the latest events, newest first, as a table or as a line of JSON for each. */
export async function showEvents(
  { client }: SvcSession,
  { type, limit }: { readonly type?: string | undefined; readonly limit: number },
  { json, print, say }: SvcTerminal,
): Promise<void> {
  const filter = type === undefined ? {} : { type: type as Event['type'] }
  const list = client.listEvents({ query: { limit: Math.min(limit, PAGE), ...filter } })
  const rows: string[][] = []
  let count = 0
  for await (const event of list) {
    if (json) print(JSON.stringify(event))
    else rows.push([event.created, event.type, event.id, concernedBy(event)])
    count += 1
    if (count === limit) break
  }
  if (count === 0) say('No events found.')
  else if (!json) print(tabulate(['CREATED', 'TYPE', 'ID', 'OBJECT'], rows))
}

interface Resent {
  readonly webhook_endpoint_id: string
  readonly delivery_attempt_id: string
  readonly attempt: number
  readonly status: string
}

/**
 * Sends an event again immediately: repeats its latest delivery attempt at the given endpoint, or at every endpoint that
 * received it.
 * @throws Error if no endpoint was subscribed to the event.
 */
export async function resendEvent(
  { client }: SvcSession,
  id: string,
  { endpoint }: { readonly endpoint?: string | undefined },
  { json, print }: SvcTerminal,
): Promise<void> {
  const endpoints = endpoint === undefined ? await endpointsOf(client) : [endpoint]
  const resent: Resent[] = []
  for (const whe_id of endpoints) {
    const query = { event_id: id, limit: 1 }
    const { data } = await client.listDeliveryAttempts({ path: { whe_id }, query })
    const [latest] = data
    if (!latest) continue
    const path = { whe_id, wdla_id: latest.id }
    const { id: delivery_attempt_id, attempt, status } = await client.retryDeliveryAttempt({ path })
    resent.push({ webhook_endpoint_id: whe_id, delivery_attempt_id, attempt, status })
  }
  if (resent.length === 0)
    throw new Error(
      `no delivery of ${id} to send again: ${endpoint === undefined ? 'no endpoint was' : `${endpoint} was not`} subscribed to it when it happened`,
    )
  if (json) for (const each of resent) print(JSON.stringify(each))
  else print(tabulateRecords(resent.map((each) => ({ ...each }))))
}

async function endpointsOf(client: SvcSession['client']): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of client.listWebhookEndpoints({ query: { limit: PAGE } })) ids.push(id)
  return ids
}

/** Returns the identifier of the event's object. `data` has one member, named after the object. */
function concernedBy({ data }: Event): string {
  const [object] = Object.values(data)
  const isNamed = typeof object === 'object' && object !== null && 'id' in object
  return isNamed ? String(object.id) : '–'
}
