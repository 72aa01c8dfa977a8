/** What a merchant reads of its money at the end of a day: every list with its filters, and balances of the past. */
import { ENVIRONMENTS, type Environment } from '../../../runtime/platform/environment.ts'
import { mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import type { DatedItem, MoneyRead } from '../reads.ts'
import { must, mustRefuse, walk } from './action.ts'

const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id)

/** Fails unless a list with filters has the same objects as the whole list, without the others. */
async function filtered(
  { send }: Merchant['live'],
  path: string,
  query: string,
  wanted: readonly DatedItem[],
): Promise<void> {
  const place = `${path}${path.includes('?') ? '&' : '?'}${query}`
  mustEqual(ids(await walk({ send }, place)), ids(wanted), `the list ${place}`)
}

/** Reads pages in both orders and both directions, and compares them with the whole list. */
async function paged({ send }: Merchant['live'], path: string, all: readonly DatedItem[]): Promise<void> {
  const join = path.includes('?') ? '&' : '?'
  for (const [order, list] of [
    ['asc', all.toReversed()],
    ['desc', all],
  ] as const) {
    const ask = async (cursor: string, from: number, hasMore: boolean): Promise<string> => {
      const place = `${path}${join}limit=${LIMIT}&order=${order}${cursor}`
      const { data, has_more, next_cursor } = must(await send('GET', place), 200, place)
      const what = `${LIMIT} of ${path}, ${order}, from ${from}`
      mustEqual([ids(data), has_more], [ids(list.slice(from, from + LIMIT)), hasMore], what)
      return next_cursor
    }
    const first = await ask('', 0, list.length > LIMIT)
    if (list.length <= LIMIT) return
    const second = await ask(`&starting_after=${first}`, LIMIT, list.length > 2 * LIMIT)
    if (list.length <= 2 * LIMIT) return
    const back = await ask(`&ending_before=${second}`, LIMIT, true)
    await ask(`&ending_before=${back}`, 0, false)
    await ask(`&starting_after=${back}`, LIMIT, list.length > 2 * LIMIT)
  }
}

const LIMIT = 3

/** Filters a list by each value that a field has, and by one that none has. */
async function byField(
  client: Merchant['live'],
  path: string,
  field: string,
  all: readonly DatedItem[],
  others: readonly string[] = [],
): Promise<void> {
  const values = new Set([
    ...all.map((each) => each[field]).filter((value) => typeof value === 'string'),
    ...others,
  ])
  for (const value of [...values].slice(0, MOST))
    await filtered(
      client,
      path,
      `${field}=${value}`,
      all.filter((each) => each[field] === value),
    )
}

const MOST = 8

async function byTime(client: Merchant['live'], path: string, all: readonly DatedItem[]): Promise<void> {
  const middle = all[Math.floor(all.length / 2)]
  if (!middle) return
  const at = Date.parse(middle.created)
  const is = (compare: (created: number) => boolean) =>
    all.filter(({ created }) => compare(Date.parse(created)))
  for (const bound of [at - 1, at, at + 1]) {
    const text = new Date(bound).toISOString()
    await filtered(
      client,
      path,
      `created[gte]=${text}`,
      is((each) => each >= bound),
    )
    await filtered(
      client,
      path,
      `created[gt]=${text}`,
      is((each) => each > bound),
    )
    await filtered(
      client,
      path,
      `created[lt]=${text}`,
      is((each) => each < bound),
    )
    await filtered(
      client,
      path,
      `created[lte]=${text}`,
      is((each) => each <= bound),
    )
  }
  const first = all.at(-1)!
  await filtered(
    client,
    path,
    `created[gt]=${first.created}&created[lt]=${middle.created}`,
    is((each) => each > Date.parse(first.created) && each < at),
  )
}

async function readEntries(
  client: Merchant['live'],
  account: 'program_funds' | 'settlement_payable',
): Promise<readonly DatedItem[]> {
  const path = `/v1/balance_entries?account=${account}`
  const all = (await walk(client, path)) as readonly DatedItem[]
  await paged(client, path, all)
  await byField(client, path, 'kind', all, ['dispute'])
  await byField(
    client,
    path,
    'source_id',
    all.filter(({ source_id }) => source_id),
  )
  const [some] = all.filter(({ source_id }) => source_id)
  if (some)
    for (const kind of [some.kind, 'dispute'])
      await filtered(
        client,
        path,
        `source_id=${some.source_id}&kind=${kind}`,
        all.filter((each) => each.source_id === some.source_id && each.kind === kind),
      )
  // Entries are numbered by their commits: of those of one millisecond around the same time, some could be out of order.
  const isSorted = all.every(({ created }, index) => index === 0 || created <= all[index - 1]!.created)
  if (isSorted) await byTime(client, path, all)
  return all
}

/** Instants around which something changed, and some at which nothing did. */
function instantsOf(dated: readonly DatedItem[], now: number): readonly string[] {
  const own = dated.filter((_, index) => index % 3 === 0).slice(0, 10)
  const around = own.flatMap(({ created }) => [created, new Date(Date.parse(created) + 1).toISOString()])
  const fine = own.slice(0, 2).map(({ created }) => created.replace('Z', '4Z'))
  const hours = [1, 2, 5, 9, 14, 20].map((hours) => new Date(now - hours * 3_600_000).toISOString())
  return [...around, ...fine, ...hours]
}

async function readBalances(
  client: Merchant['live'],
  dated: readonly DatedItem[],
): Promise<MoneyRead['balances']> {
  const found = new Map<string, Readonly<Record<string, unknown>>>()
  for (const at of instantsOf(dated, Date.now()))
    found.set(at, must(await client.send('GET', `/v1/balance?at=${at}`), 200, `the balance at ${at}`))
  const future = new Date(Date.now() + 60_000).toISOString()
  mustRefuse(
    await client.send('GET', `/v1/balance?at=${future}`),
    [400, 'out_of_range'],
    'a balance of the future',
  )
  mustRefuse(
    await client.send('GET', '/v1/balance?at=2026-13-01'),
    [400, 'invalid_format'],
    'a balance of no day',
  )
  return found
}

const STRANGE = { settlement: 'stl_01jxp19q8r7s6t5v4w3x2y1z0a', payout: 'po_01jxr19s8t7v6w5x4y3z2a1b0c' }

async function readOf(merchant: Merchant, environment: Environment): Promise<MoneyRead> {
  const client = merchant[environment]
  const list = async (path: string, fields: Readonly<Record<string, readonly string[]>>) => {
    const all = (await walk(client, path)) as readonly DatedItem[]
    for (const [field, values] of Object.entries(fields)) await byField(client, path, field, all, values)
    await paged(client, path, all)
    await byTime(client, path, all)
    return all
  }
  const settlements = await list('/v1/settlements', { status: ['failed'] })
  const lines: DatedItem[] = []
  for (const { id } of settlements) {
    const path = `/v1/settlements/${id}/lines`
    lines.push(
      ...(settlements.length > 3
        ? await list(path, { type: [] })
        : await list(path, { type: ['dispute'], source_id: [] })),
    )
  }
  for (const { id } of settlements.slice(0, 3)) {
    const { body } = await client.send('GET', `/v1/settlements/${id}`)
    mustEqual(
      body,
      settlements.find((each) => each.id === id),
      `settlement ${id}, as it was read`,
    )
  }
  const payouts = await list('/v1/payouts', {
    status: ['returned'],
    destination_id: [],
    settlement_id: [STRANGE.settlement],
  })
  for (const payout of payouts.slice(0, 5)) {
    const { body } = await client.send('GET', `/v1/payouts/${payout.id}`)
    mustEqual(body, payout, `payout ${payout.id}, as it was read`)
  }
  const destinations = await list('/v1/payout_destinations', { status: ['denied'], type: [] })
  for (const path of [
    `settlements/${STRANGE.settlement}`,
    `settlements/${STRANGE.settlement}/lines`,
    `payouts/${STRANGE.payout}`,
  ])
    mustRefuse(await client.send('GET', `/v1/${path}`), [404, 'not_found'], path)
  mustRefuse(
    await client.post(`/v1/payouts/${STRANGE.payout}/cancel`, {}),
    [404, 'not_found'],
    'a strange payout',
  )
  const entries = {
    program_funds: await readEntries(client, 'program_funds'),
    settlement_payable: await readEntries(client, 'settlement_payable'),
  }
  mustEqual(
    ids(await walk(client, '/v1/balance_entries')),
    ids(entries.program_funds),
    'the balance entries without an account',
  )
  const holds =
    environment === 'sandbox' ? ((await walk(client, '/v1/card_transactions')) as readonly DatedItem[]) : []
  const balances = await readBalances(client, [
    ...entries.program_funds,
    ...entries.settlement_payable,
    ...holds,
  ])
  return { settlements, lines, payouts, destinations, entries, balances }
}

/** Reads all lists and balances of the merchant's money. */
export async function readMoney(merchant: Merchant): Promise<Readonly<Record<Environment, MoneyRead>>> {
  const [one, other] = ENVIRONMENTS
  return { [one!]: await readOf(merchant, one!), [other!]: await readOf(merchant, other!) } as Record<
    Environment,
    MoneyRead
  >
}
