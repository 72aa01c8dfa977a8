/** What a merchant does with settlements in the sandbox: it moves their clock to one of them, and fails one. */
import { mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, type Drawn, must, mustRefuse, one, walk } from './action.ts'
import { MOST_SECONDS, readSettlements } from './cards.ts'

export interface ShownSettlement {
  readonly id: string
  readonly status: SettlementStatus
  readonly period_end: string
  readonly updated: string
}

type SettlementStatus = 'open' | 'pending' | 'processing' | 'settled' | 'failed'

const HOUR_MS = 3_600_000

const NEXT = {
  open: 'pending',
  pending: 'processing',
  processing: 'settled',
  failed: 'processing',
  settled: undefined,
} as const

/** When a settlement moves to its next status: an hour after its last move, or at its cut-off. */
export const dueOf = ({ status, period_end, updated }: ShownSettlement): number =>
  status === 'open' ? Date.parse(period_end) : Date.parse(updated) + HOUR_MS

const moved = (settlement: ShownSettlement): ShownSettlement => ({
  ...settlement,
  status: NEXT[settlement.status]!,
  updated: new Date(dueOf(settlement)).toISOString(),
})

/** Returns the time at which a settlement reaches a status; undefined if it never does. */
function timeOf(settlement: ShownSettlement, wanted: SettlementStatus): number | undefined {
  if (settlement.status === wanted) return Number.NEGATIVE_INFINITY
  for (let each = settlement; each.status !== 'settled'; each = moved(each))
    if (NEXT[each.status] === wanted) return dueOf(each)
  return undefined
}

/** Moves settlements up to a time. Returns those that moved, by their first move. */
function moveAll(all: readonly ShownSettlement[], until: number): readonly ShownSettlement[] {
  const found = new Map<string, ShownSettlement>()
  const now = new Map(all.map((each) => [each.id, each]))
  for (;;) {
    const open = [...now.values()].filter(({ status }) => status !== 'settled')
    const [next] = open.toSorted((a, b) => dueOf(a) - dueOf(b) || (a.id < b.id ? -1 : 1))
    if (!next || dueOf(next) > until) return [...found.values()]
    const after = moved(next)
    now.set(after.id, after)
    found.set(after.id, after)
  }
}

const readAll = async ({ sandbox }: Merchant) =>
  (await walk(sandbox, '/v1/settlements')) as unknown as readonly ShownSettlement[]

const inShort = (all: readonly ShownSettlement[]) =>
  all.map(({ id, status, updated }) => ({ id, status, updated }))

const ADVANCE = '/v1/test/settlements/advance_clock'

/** Moves the clock, and checks which settlements moved. Other merchants have more than one machine at work. */
export async function advance(
  merchant: Merchant,
  order: object,
  targetOf: (all: readonly ShownSettlement[]) => number | undefined,
): Promise<void> {
  const all = await readAll(merchant)
  const wanted = targetOf(all)
  const began = Date.now()
  const answer = await merchant.sandbox.post(ADVANCE, order)
  if (wanted === undefined) {
    if (merchant.isExact) mustRefuse(answer, [409, 'invalid_state'], 'an impossible advance of the clock')
    return
  }
  if (!merchant.isExact && answer.status === 409) return
  const { now, data } = must(answer, 200, 'an advance of the clock')
  const time = Date.parse(now)
  merchant.aheadSeconds = Math.max(merchant.aheadSeconds, (time - Date.now()) / 1000)
  merchant.advances.push({ began, ended: Date.now(), time })
  if (merchant.isExact) {
    mustEqual(inShort(data), inShort(moveAll(all, time)), 'the settlements that an advance moved')
    const isKept = wanted < began + merchant.aheadSeconds * 1000
    if (!isKept) mustEqual(now, new Date(wanted).toISOString(), 'the time that the clock was moved to')
    for (const each of data as ShownSettlement[]) {
      const { body } = await merchant.sandbox.send('GET', `/v1/settlements/${each.id}`)
      mustEqual(body, each, 'a settlement that an advance moved')
    }
  }
  await readSettlements(merchant)
}

const STATUSES = ['open', 'pending', 'processing', 'settled', 'failed'] as const

/** Moves the clock to the next move of a settlement, or to a status, unless a hold could expire before. */
async function reach(merchant: Merchant, { pick, amount }: Drawn): Promise<void> {
  const { sandbox } = merchant
  const all = await readAll(merchant)
  const settlement = one(all, pick)
  if (!settlement) return
  const to = (amount / 25) % 3 === 0 ? undefined : STATUSES[(amount / 25) % STATUSES.length]
  const order = { settlement_id: settlement.id, ...(to !== undefined && { to }) }
  const target = (each: ShownSettlement) => {
    if (to !== undefined) return timeOf(each, to)
    return each.status === 'settled' ? Number.NEGATIVE_INFINITY : dueOf(each)
  }
  const known = target(settlement)
  if (known !== undefined && known > Date.now() + MOST_SECONDS * 1000) return
  await advance(merchant, order, (now) => target(now.find(({ id }) => id === settlement.id)!))
  const refused = async (content: object, field: string) => {
    const { status, body } = await sandbox.post(ADVANCE, content)
    mustEqual(
      [status, body.error?.code, body.error?.details?.[0]?.field],
      [422, 'validation_failed', field],
      `the answer to an advance ${JSON.stringify(Object.keys(content))}`,
    )
  }
  await refused({ to: 'settled' }, 'settlement_id')
  await refused({ seconds: 5, settlement_id: settlement.id }, 'seconds')
  await refused({ settlement_id: 'stl_01jxp19q8r7s6t5v4w3x2y1z0a' }, 'settlement_id')
}

/** Fails a settlement that is being processed. Others cannot fail. */
async function failOne(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { sandbox } = merchant
  const all = await readAll(merchant)
  const running = all.filter(({ status }) => status === 'processing')
  const settlement = one(running.length > 0 ? running : all, pick)
  if (!settlement) return
  const answer = await sandbox.post('/v1/test/settlements/simulate_failure', { settlement_id: settlement.id })
  if (settlement.status === 'processing' && answer.status === 200) {
    const ahead = Date.parse(answer.body.updated) - Date.now() - merchant.aheadSeconds * 1000
    if (answer.body.status !== 'failed' || Math.abs(ahead) > 60_000)
      mustEqual([answer.body.status, ahead], ['failed', 0], 'a settlement that failed')
    merchant.failures.push({ id: settlement.id, at: Date.parse(answer.body.updated) })
  } else if (merchant.isExact || settlement.status !== 'processing')
    mustRefuse(answer, [409, 'invalid_state'], `the failure of a settlement that is ${settlement.status}`)
  const unknown = { settlement_id: 'stl_01jxp19q8r7s6t5v4w3x2y1z0a' }
  mustRefuse(
    await sandbox.post('/v1/test/settlements/simulate_failure', unknown),
    [422, 'validation_failed'],
    'the failure of an unknown settlement',
  )
}

/** Without a distance, the clock moves to the next settlement or activation, if there is one: holds would expire otherwise. */
async function advanceToNext(merchant: Merchant): Promise<void> {
  if (merchant.aheadSeconds > MOST_SECONDS - 86_400) return
  const held = await walk(merchant.sandbox, '/v1/payout_destinations?status=inactive')
  const activations = held.map(({ active_at }) => Date.parse(active_at as string))
  const timesOf = (all: readonly ShownSettlement[]) => [
    ...all.filter(({ status }) => status !== 'settled').map(dueOf),
    ...activations,
  ]
  if (timesOf(await readAll(merchant)).length === 0) return
  await advance(merchant, {}, (all) => Math.min(...timesOf(all)))
  if (!merchant.isExact) return
  const time = merchant.advances.at(-1)!.time
  for (const { id, active_at } of held) {
    if (Date.parse(active_at as string) > time) continue
    const { body } = await merchant.sandbox.send('GET', `/v1/payout_destinations/${id}`)
    mustEqual(body.status === 'inactive', false, 'whether a destination is inactive after its time')
  }
}

export const SETTLEMENT_ACTIONS: Actions = {
  reach_settlement: { times: 2, act: reach },
  fail_settlement: { times: 1, act: failOne },
  next_settlement: { times: 1, act: advanceToNext },
}
