/** `svc events`: what has happened, as deliveries told of it. */
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { tabulate } from './print.ts'
import type { Session, Terminal } from './svc-session.ts'

type Event = Schemas['Event']

/** What the service gives at once. */
const PAGE = 100

/** One event, whole. */
export async function showEvent({ client }: Session, id: string, { json, print }: Terminal): Promise<void> {
  const event = await client.getEvent({ path: { event_id: id } })
  print(JSON.stringify(event, null, json ? 0 : 2))
}

/** The latest events, newest first: a line of JSON each, or a table. */
export async function showEvents(
  { client }: Session,
  { type, limit }: { readonly type?: string | undefined; readonly limit: number },
  { json, print, say }: Terminal,
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
  if (count === 0) say('There are no such events.')
  else if (!json) print(tabulate(['CREATED', 'TYPE', 'ID', 'CONCERNS'], rows))
}

/** The identifier of what it tells of: `data` has one member, named after the object. */
function concernedBy({ data }: Event): string {
  const [object] = Object.values(data)
  const isNamed = typeof object === 'object' && object !== null && 'id' in object
  return isNamed ? String(object.id) : '–'
}
