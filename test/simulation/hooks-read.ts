/** What a merchant reads of its webhook endpoints, their attempts and their recoveries. */
import type { Environment } from '../../runtime/platform/environment.ts'
import { must, walk } from './actions/action.ts'
import type { Merchant } from './merchant.ts'
import type { EndpointRead, EnvironmentRead, HooksRead, Item } from './reads.ts'

/** Page size of lists that are long: pages of other lists are small. */
const LONG = 100

export async function readHooks(merchant: Merchant): Promise<HooksRead> {
  return { sandbox: await readIn(merchant, 'sandbox'), live: await readIn(merchant, 'live') }
}

async function readIn(merchant: Merchant, environment: Environment): Promise<EnvironmentRead> {
  const at = Date.now()
  const client = merchant[environment]
  const listsOf = async (path: string, filters: readonly string[], size: number) => {
    const lists: Record<string, readonly Item[]> = {}
    for (const filter of filters)
      lists[filter] = await walk(client, filter ? `${path}?${filter}` : path, size)
    return lists
  }
  const retrieve = async (path: string): Promise<Item> => must(await client.send('GET', path), 200, path)
  const root = '/v1/webhook-endpoints'
  const lists = await listsOf(root, ['', 'status=enabled', 'status=disabled', 'order=asc'], 3)
  const endpoints: EndpointRead[] = []
  for (const { id } of lists['']!) {
    const place = `${root}/${id}`
    const all = await walk(client, `${place}/delivery-attempts`, LONG)
    const last = all.at(-1)
    const filters = [
      ...['status=succeeded', 'status=failed', 'status=canceled', 'status=pending'],
      ...['outcome=delivered', 'outcome=given_up', 'outcome=given_up&status=failed'],
      ...(last ? [`event_id=${last.event_id}`, `created[lte]=${last.created}&order=asc`] : []),
    ]
    const recoveries = await listsOf(`${place}/recoveries`, ['', 'status=completed', 'status=canceled'], 3)
    const recovery = recoveries['']![0]
    const shown = await retrieve(place)
    const path = typeof shown.jwks_url === 'string' ? new URL(shown.jwks_url).pathname : undefined
    endpoints.push({
      shown,
      keys: path === undefined ? [] : must(await client.send('GET', path), 200, path).keys,
      attempts: { '': all, ...(await listsOf(`${place}/delivery-attempts`, filters, LONG)) },
      recoveries,
      attempt: last && (await retrieve(`${place}/delivery-attempts/${last.id}`)),
      recovery: recovery && (await retrieve(`${place}/recoveries/${recovery.id}`)),
    })
  }
  const events = await listsOf(
    '/v1/events',
    ['', 'type=webhook_endpoint.test', 'type=payout.created', 'type=payout.created&order=asc'],
    LONG,
  )
  const event = events['']!.at(-1)
  return { at, lists, endpoints, events, event: event && (await retrieve(`/v1/events/${event.id}`)) }
}
