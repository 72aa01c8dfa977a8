/** Drafts of spending controls: kept in versions, and tried on recorded authorizations before they bind. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { PENDING_BACKTESTS } from '../../runtime/cards/spending-control-backtests/work-queries.ts'
import { type Confirmer, holdMachineClock, type MachineClock, makeConfirmer } from '../account/confirmers.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { eventsOf, make, makeCard, patch, speakAll } from './fixtures.ts'
import { openTestNetwork } from './network/open-network.ts'

const service = useService()
let tenantId: string
let send: Send
let machine: MachineClock
let member: Confirmer
beforeAll(() => {
  machine = holdMachineClock(service)
})
beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  member = await makeConfirmer(service, machine, tenantId)
  await send('/v1/test/funding', { body: { amount: 1_000_000 } })
})

const DRAFTS = '/v1/spending_control_drafts'
const HOUR = 3_600_000

const work = () =>
  backtestWorker({ ...service, log: strictLog, wakeUpChannel: { publish: service.wakeUps.notify } }).runOnce()

const makeDraft = (spending_controls: object, target: object = {}) =>
  make(send, DRAFTS, { name: 'Lower limits', spending_controls, ...target })

/** Replays the last year with a draft. */
async function backtest(draft: { readonly id: string }) {
  service.clock.now += 1000
  const interval = {
    interval_start: new Date(service.clock.now - 365 * 24 * HOUR).toISOString(),
    interval_end: new Date(service.clock.now).toISOString(),
  }
  const { id } = await make(send, `${DRAFTS}/${draft.id}/backtests`, interval)
  await work()
  return (await send(`/v1/spending_control_backtests/${id}`)).body
}

const MERCHANT = { name: 'Diner', category_code: '5812', country: 'US' }

async function simulate(step: string, body: object) {
  service.clock.now += 60_000
  return send(`/v1/test/cards/simulate_${step}`, { body })
}

const authorize = async (card_id: string, amount: number, merchant: object = MERCHANT) =>
  (await simulate('authorization', { card_id, amount, merchant })).body

test('a draft keeps each version of its controls, and ends archived', async () => {
  const draft = await makeDraft({ max_authorization_count: 1 })
  expect(draft).toMatchObject({ status: 'draft', version: 1, card_id: null, card_program_id: null })
  const path = `${DRAFTS}/${draft.id}`
  expect((await patch(send, path, { name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', version: 1 })
  const changed = await patch(send, path, { spending_controls: { max_authorization_count: 2 } })
  expect(changed.body.version).toBe(2)
  const { data } = (await send(`${path}/versions`)).body
  const counts = data.map((each: typeof draft) => [
    each.version,
    each.spending_controls.max_authorization_count,
  ])
  expect(counts).toEqual([
    [2, 2],
    [1, 1],
  ])
  expect((await send(`${path}/archive`, { body: {} })).body.status).toBe('archived')
  const late = await patch(send, path, { spending_controls: null })
  expect(refusal(late)).toEqual([409, 'conflict', 'invalid_state'])
  expect((await send(`${DRAFTS}?status=archived`)).body.data).toHaveLength(1)
})

test('a draft is for cards that exist, and for known categories', async () => {
  const controls = { spending_controls: {} }
  const nobody = { name: 'D', card_id: 'card_00000000000000000000000000', ...controls }
  expect(firstFault(await send(DRAFTS, { body: nobody }))).toEqual([
    422,
    'validation_failed',
    { field: 'card_id', issue: 'does not identify an existing card' },
  ])
  const { '2026-02-01': older } = await speakAll(service, tenantId)
  expect((await older(DRAFTS)).status).toBe(404)
})

test('a backtest counts what the draft would have decided otherwise', async () => {
  const limit = (amount: number, interval = 'monthly') => ({ spending_limits: [{ amount, interval }] })
  const card = await makeCard(send, { spending_controls: limit(3000) })
  const other = await makeCard(send)
  for (const amount of [1000, 1000, 900, 500]) await authorize(card.id, amount) // the last one is declined
  await authorize(other.id, 5000)
  await simulate('decline', { card_id: card.id, amount: 700, reason: 'suspected_fraud' })

  const lower = await backtest(await makeDraft(limit(2000), { card_id: card.id }))
  expect(lower).toMatchObject({ status: 'succeeded', progress: 100 })
  expect(lower.result).toEqual({
    evaluated: { count: 4, amount: 3400 },
    approved_to_declined: { count: 1, amount: 900 },
    declined_to_approved: { count: 0, amount: 0 },
    amount_changed: { count: 0, amount: 0 },
    fixed: [{ cause: 'network', count: 1, amount: 700 }],
    reasons: [{ change: 'approved_to_declined', code: 'spending_limit_exceeded', count: 1, amount: 900 }],
  })
  const flips = (await send(`/v1/spending_control_backtests/${lower.id}/flips`)).body.data
  expect(flips).toMatchObject([{ card_id: card.id, rule: 'spending_limit_monthly', amount: 900 }])

  const higher = await backtest(await makeDraft(limit(9000)))
  expect(higher.result).toMatchObject({
    evaluated: { count: 5, amount: 8400 },
    declined_to_approved: { count: 1, amount: 500 },
  })
  expect(await eventsOf(send)).toContain('spending_control_backtest.succeeded')
})

/** The same numbers in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

test('the controls of a card, replayed as a draft, change no recorded decision', async () => {
  const limits = [
    { amount: 500, interval: 'daily' },
    { amount: 900, interval: 'weekly', categories: ['5812', '4121'] },
    { amount: 1200, interval: 'monthly' },
    { amount: 900, interval: 'yearly', categories: ['5812'] },
    { amount: 1000, interval: 'all_time' },
  ]
  const cards: { id: string; spending_controls: object }[] = []
  for (const limit of limits) {
    const spending_controls = {
      blocked_categories: ['7995'],
      max_authorization_count: 12,
      spending_limits: [limit],
    }
    cards.push(await makeCard(send, { spending_controls }))
  }
  const pick = seeded(7)
  const open: string[] = []
  for (let count = 0; count < 140; count += 1) {
    service.clock.now += pick(4) * HOUR
    const amount = 1 + pick(500)
    const step = open.length === 0 ? 0 : pick(9)
    if (step < 5) {
      const category_code = ['5812', '4121', '5812', '5812', '7995'][pick(5)]!
      const { id, status } = await authorize(cards[count % 5]!.id, amount, { ...MERCHANT, category_code })
      if (status === 'authorized') open.push(id)
    } else {
      const kind = ['increment', 'reversal', 'clearing', 'expiry'][step - 5]!
      const card_transaction_id = open[pick(open.length)]!
      await simulate(kind, { card_transaction_id, ...(kind !== 'expiry' && { amount }) })
    }
  }
  for (const [index, { id, spending_controls }] of cards.entries()) {
    const declined = await send(`/v1/card_transactions?card_id=${id}&status=declined`)
    expect(declined.text).toContain(`"rule":"spending_limit_${limits[index]!.interval}","outcome":"failed"`)
    const { result } = await backtest(await makeDraft(spending_controls, { card_id: id }))
    expect(result).toMatchObject({ reasons: [], fixed: [] })
    expect(result.evaluated.count).toBeGreaterThan(10)
  }
})

/** Controls of cards, each with what it depends on. */
const USE_CONTROLS: readonly object[] = [
  {
    merchant_limits: [
      { amount: 900, interval: 'weekly' },
      { amount: 2000, interval: 'all_time' },
    ],
    merchant_count_limits: [
      { count: 2, interval: 'daily' },
      { count: 3, interval: 'monthly' },
    ],
  },
  {
    first_use_abroad: { action: 'decline', home_countries: ['US'] },
    required_checks: [{ check: 'cvc', result: 'match', entry_methods: ['online'] }],
    blocked_merchant_names: ['shop 3*'],
  },
  {
    allowed_times: [
      {
        days: ['monday', 'wednesday', 'saturday'],
        start: '18:00',
        end: '06:00',
        time_zone: 'America/New_York',
      },
    ],
    allowed_merchant_ids: ['m1', 'm2', 'm3'],
    blocked_entry_methods: ['swipe'],
  },
  {
    partial_approval: 'allowed',
    spending_limits: [{ amount: 600, interval: 'weekly' }],
    merchant_limits: [{ amount: 1000, interval: 'monthly' }],
  },
]

test('the controls of uses, replayed as a draft, change no recorded decision', async () => {
  const cards: { readonly id: string; readonly spending_controls: object }[] = []
  for (const spending_controls of USE_CONTROLS) cards.push(await makeCard(send, { spending_controls }))
  const pick = seeded(11)
  const reasons = new Set<string>()
  let reduced = 0
  const open: string[] = []
  for (let count = 0; count < 160; count += 1) {
    service.clock.now += pick(5) * HOUR
    const amount = 1 + pick(500)
    const card_id = cards[count % 4]!.id
    if (open.length > 0 && pick(4) === 0) {
      const kind = ['increment', 'reversal', 'clearing'][pick(3)]!
      await simulate(kind, { card_transaction_id: open[pick(open.length)]!, amount })
      continue
    }
    const shop = pick(5)
    const country = pick(3) === 0 ? 'CA' : 'US'
    const merchant = {
      ...MERCHANT,
      name: `Shop ${shop}`,
      country,
      ...(shop > 0 && { network_id: `m${shop}` }),
    }
    if (pick(20) === 0) {
      await simulate('force_post', { card_id, amount, merchant }) // a first use without a decision
      continue
    }
    const entry_method = ['chip', 'swipe', 'online'][pick(3)]!
    const checks = { cvc: ['match', 'unchecked'][pick(2)]! }
    const { body } = await simulate('authorization', {
      card_id,
      amount,
      merchant,
      entry_method,
      checks,
      partial_approval: true,
    })
    if (body.status === 'authorized') open.push(body.id)
    else reasons.add(body.decline_reason.code)
    if (body.amounts.authorized > 0 && body.amounts.authorized < amount) reduced += 1
  }
  expect([...reasons].toSorted()).toEqual([
    'check_failed',
    'entry_method_blocked',
    'first_use_abroad',
    'merchant_blocked',
    'merchant_count_exceeded',
    'merchant_limit_exceeded',
    'spending_limit_exceeded',
    'time_blocked',
  ])
  expect(reduced).toBeGreaterThan(0)
  for (const { id, spending_controls } of cards) {
    const { result } = await backtest(await makeDraft(spending_controls, { card_id: id }))
    expect(result.reasons).toEqual([])
    expect(result.evaluated.count).toBeGreaterThan(10)
  }
  const { '2026-02-01': older } = await speakAll(service, tenantId)
  const seen = (await older(`/v1/cards/${cards[0]!.id}`)).body.spending_controls
  expect(Object.keys(seen).toSorted()).toEqual([
    'allowed_categories',
    'blocked_countries',
    'max_authorization_count',
    'spending_limits',
  ])
  const declined = (await older('/v1/card_transactions?status=declined&limit=100')).body.data
  const shown = new Set(
    declined.map((each: { decline_reason: { code: string } }) => each.decline_reason.code),
  )
  expect([...shown].toSorted()).toEqual(['spending_limit_exceeded', 'transaction_not_allowed'])
})

test('a backtest fails on purpose while it is pending', async () => {
  const draft = await makeDraft({})
  service.clock.now += 1000
  const interval = {
    interval_start: '2026-01-01T00:00:00Z',
    interval_end: new Date(service.clock.now).toISOString(),
  }
  const { id } = await make(send, `${DRAFTS}/${draft.id}/backtests`, interval)
  const fail = () =>
    send('/v1/test/spending_control_backtests/simulate_failure', {
      body: { spending_control_backtest_id: id },
    })
  expect((await fail()).body).toMatchObject({ id, status: 'failed', result: null })
  await work()
  expect((await send(`/v1/spending_control_backtests/${id}`)).body.status).toBe('failed')
  expect(refusal(await fail())).toEqual([409, 'conflict', 'invalid_state'])
  expect((await eventsOf(send)).at(-1)).toBe('spending_control_backtest.failed')
})

test('a draft that approves a different amount changes a decision, in a backtest and in shadow', async () => {
  const reducible = (amount: number) => ({
    partial_approval: 'allowed',
    spending_limits: [{ amount, interval: 'monthly' }],
  })
  const card = await makeCard(send, { spending_controls: reducible(5000) })
  const other = await makeCard(send)
  const lower = await makeDraft(reducible(2000), { card_id: card.id })
  const higher = await makeDraft(reducible(9000), { card_id: card.id })
  const whole = await makeDraft({ partial_approval: 'declined' }, { card_id: other.id })
  for (const { id } of [lower, higher, whole]) await step(`${DRAFTS}/${id}/shadow`)
  const ask = async (card_id: string, amount: number) => {
    const asked = { card_id, amount, merchant: MERCHANT, partial_approval: true }
    return (await simulate('authorization', asked)).body
  }
  const [first, second] = [await ask(card.id, 3000), await ask(card.id, 3000)]
  const left = await ask(other.id, 2_000_000) // the balance is less
  const approved = [first, second, left].map(({ amounts }) => amounts.authorized)
  expect(approved).toEqual([3000, 2000, 995_000])

  const because = { code: 'spending_limit_exceeded', rule: 'spending_limit_monthly' }
  expect(first.shadow_decisions).toEqual([
    {
      ...{ spending_control_draft_id: lower.id, version: 1, outcome: 'would_change_amount', ...because },
      draft_amount: 2000,
    },
    { spending_control_draft_id: higher.id, version: 1, outcome: 'same', code: null, rule: null },
  ])
  const changed = { change: 'amount_changed', ...because, amount: 3000 }
  const declined = { change: 'approved_to_declined', ...because, amount: 3000 }
  const one = { count: 1, amount: 3000 }
  const none = { count: 0, amount: 0 }
  for (const [draft, result, flips] of [
    [
      lower,
      { approved_to_declined: one, amount_changed: one },
      [
        { ...changed, card_transaction_id: first.id, recorded_amount: 3000, draft_amount: 2000 },
        { ...declined, card_transaction_id: second.id, recorded_amount: 2000, draft_amount: 0 },
      ],
    ],
    [
      higher,
      { approved_to_declined: none, amount_changed: one, reasons: [{ ...one, code: because.code }] },
      [{ ...changed, card_transaction_id: second.id, recorded_amount: 2000, draft_amount: 3000 }],
    ],
    [
      whole,
      { approved_to_declined: { count: 1, amount: 2_000_000 }, amount_changed: none },
      [{ code: 'insufficient_funds', rule: 'balance', recorded_amount: 995_000, draft_amount: 0 }],
    ],
  ] as const) {
    const { id, result: replayed } = await backtest(draft)
    expect(replayed).toMatchObject(result)
    expect((await send(`${DRAFTS}/${draft.id}/shadow`)).body.result).toMatchObject(result)
    for (const path of [`/v1/spending_control_backtests/${id}`, `${DRAFTS}/${draft.id}`])
      expect((await send(`${path}/flips?order=asc`)).body.data).toMatchObject(flips)
  }
})

test('the controls of uses are checked', async () => {
  const card = await makeCard(send)
  const path = `/v1/cards/${card.id}`
  const window = { days: ['monday'], start: '08:00', end: '08:00', time_zone: 'Mars/Base' }
  const limit = { amount: 1, interval: 'daily' }
  const refused = await patch(send, path, {
    spending_controls: {
      allowed_countries: ['XX'],
      allowed_times: [window],
      merchant_limits: [limit, limit],
    },
  })
  expect(refused.body.error.details).toEqual([
    { field: 'spending_controls.allowed_countries[0]', issue: 'is not an ISO 3166-1 country code' },
    { field: 'spending_controls.allowed_times[0].end', issue: 'must differ from start' },
    {
      field: 'spending_controls.allowed_times[0].time_zone',
      issue: 'is Mars/Base, which is not an IANA time zone such as Europe/Berlin',
    },
    { field: 'spending_controls.merchant_limits[1].interval', issue: 'is the same as in an earlier entry' },
  ])
  const set = { blocked_merchant_names: ['b*', 'a', 'b*'], allowed_merchant_ids: ['1'] }
  const { body } = await patch(send, path, { spending_controls: set })
  expect(body.spending_controls).toMatchObject({
    blocked_merchant_names: ['a', 'b*'],
    allowed_merchant_ids: ['1'],
  })
  const gone = await patch(send, path, {
    spending_controls: { blocked_merchant_names: [], allowed_merchant_ids: null },
  })
  expect(Object.keys(gone.body.spending_controls)).toHaveLength(4)
})

test('a backtest whose process stops is performed by another one, once', async () => {
  const card = await makeCard(send)
  await authorize(card.id, 100)
  const draft = await makeDraft({ blocked_categories: ['5812'] })
  service.clock.now += 1000
  const interval = {
    interval_start: '2026-01-01T00:00:00Z',
    interval_end: new Date(service.clock.now).toISOString(),
  }
  const { id } = await make(send, `${DRAFTS}/${draft.id}/backtests`, interval)
  const lease = { token: crypto.randomUUID(), now: 0, until: 1 }
  expect(
    await PENDING_BACKTESTS.leases.acquire(service.database.sandbox, [tenantId, id], lease),
  ).toBeDefined()
  await Promise.all([work(), work()])
  const { status, result } = (await send(`/v1/spending_control_backtests/${id}`)).body
  expect([status, result.approved_to_declined.count]).toEqual(['succeeded', 1])
  expect((await send(`/v1/spending_control_backtests/${id}/flips`)).body.data).toHaveLength(1)
})

/** Sends requests at the same time that each need a new code of the member. */
function confirmAll(...paths: readonly string[]) {
  machine.toNewCodes()
  return Promise.all(
    paths.map((path, steps) => send(path, { body: {}, headers: { 'Service-Factor': member.code(steps) } })),
  )
}

/** Sends a request that needs a new code of the member. */
function confirmed(path: string, body: object = {}) {
  machine.toNewCodes()
  return send(path, { body, headers: { 'Service-Factor': member.code() } })
}

const step = async (path: string) => {
  const answer = await send(path, { body: {} })
  expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text])
  return answer.body
}

test('a rule is drafted, backtested, run in shadow, promoted, and rolled back', async () => {
  const before = { spending_limits: [{ amount: 100_000, interval: 'monthly', categories: null }] }
  const card = await makeCard(send, { spending_controls: before })
  await authorize(card.id, 3000)
  const draft = await makeDraft(
    { spending_limits: [{ amount: 5000, interval: 'monthly' }] },
    { card_id: card.id },
  )
  const path = `${DRAFTS}/${draft.id}`
  expect((await backtest(draft)).result.approved_to_declined.count).toBe(0)

  expect((await step(`${path}/shadow`)).status).toBe('shadow')
  const { '2026-05-19': admin } = await speakAll(service, tenantId, { scope: 'admin' })
  const { number } = (await admin(`/v1/cards/${card.id}/details`)).body
  const paid = { amount: 1000, currency: 'usd', merchant: { ...MERCHANT, country: 'US' } } as const
  const sent_at = new Date(service.clock.now).toISOString()
  const message = { message_id: 'm1', transaction_id: card.id, sent_at, card_number: number, ...paid }
  for (
    let times = 0;
    times < 2;
    times += 1 // the network repeats its message
  )
    expect(await openTestNetwork(service)('authorize', message)).toMatchObject({ decision: 'approved' })
  const [same] = (await send(`/v1/card_transactions?card_id=${card.id}&limit=1`)).body.data
  expect([same.status, same.shadow_decisions[0].outcome]).toEqual(['authorized', 'same'])
  const flipped = await authorize(card.id, 2000)
  const why = { code: 'spending_limit_exceeded', rule: 'spending_limit_monthly' }
  const declines = { spending_control_draft_id: draft.id, version: 1, outcome: 'would_decline', ...why }
  expect([flipped.status, flipped.shadow_decisions]).toEqual(['authorized', [declines]])
  const elsewhere = await authorize((await makeCard(send)).id, 9000)
  expect(elsewhere.shadow_decisions).toBeUndefined()
  expect((await send(`${path}/shadow`)).body).toMatchObject({
    version: 1,
    ended: null,
    result: {
      evaluated: { count: 2, amount: 3000 },
      approved_to_declined: { count: 1, amount: 2000 },
      reasons: [{ change: 'approved_to_declined', code: why.code, count: 1, amount: 2000 }],
    },
  })
  const flips = (await send(`${path}/flips?change=approved_to_declined`)).body.data
  expect(flips).toMatchObject([{ card_transaction_id: flipped.id, card_id: card.id, amount: 2000, ...why }])

  expect(refusal(await send(`${path}/promote`, { body: {} }))).toEqual([
    403,
    'permission_error',
    'factor_required',
  ])
  expect(refusal(await confirmed(`${path}/promote`, { version: 2 }))).toEqual([
    409,
    'conflict',
    'invalid_state',
  ])
  const promoted = await confirmed(`${path}/promote`, { version: 1 })
  expect(promoted.body).toMatchObject({
    status: 'active',
    promotion: { version: 1, cards: 1, rolled_back: null },
  })
  expect((await send(`/v1/cards/${card.id}`)).body.spending_controls).toEqual(draft.spending_controls)
  const declined = await authorize(card.id, 1)
  expect(declined).toMatchObject({ status: 'declined', decline_reason: { code: why.code } })
  expect(declined.shadow_decisions).toBeUndefined()
  expect((await send(`${path}/shadow`)).body.ended).not.toBeNull()

  const restored = await confirmed(`${path}/roll_back`)
  expect(restored.body).toMatchObject({ status: 'draft', version: 1, promotion: { version: 1 } })
  expect((await send(`/v1/cards/${card.id}`)).body.spending_controls).toMatchObject(before)
  expect((await authorize(card.id, 1)).status).toBe('authorized')
  const told = (await admin('/v1/audit_log?limit=6')).body.data as { action: string }[]
  expect(
    told
      .map(({ action }) => action.replace('spending_control_', ''))
      .filter((each) => /^(draft|version)/.test(each)),
  ).toEqual(['draft.reverted', 'version.activated', 'version.replaced', 'draft.promoted'])
  const versions = (await send(`${path}/versions?order=asc`)).body.data
  expect(
    versions.map(({ version, origin }: { version: number; origin: string }) => [version, origin]),
  ).toEqual([
    [1, 'proposed'],
    [2, 'replaced'],
    [3, 'restored'],
  ])
  expect(versions[2].spending_controls).toEqual(versions[1].spending_controls)
  const types = (await eventsOf(send)).filter((type) => type.startsWith('spending_control'))
  expect(types.map((type) => type.replace('spending_control_', ''))).toEqual([
    'draft.created',
    'backtest.succeeded',
    'draft.shadow_started',
    'draft.shadow_ended',
    'draft.promoted',
    'draft.rolled_back',
  ])
})

const countLimit = (count: number | null) => ({ spending_controls: { max_authorization_count: count } })
const countLimitOf = async (path: string) =>
  (await send(path)).body.spending_controls.max_authorization_count as number | null

test('a promotion changes the cards of a program, and a roll back leaves what has changed since', async () => {
  const program = await make(send, '/v1/card_programs', { name: 'Fleet', kind: 'both', ...countLimit(9) })
  const cards: { id: string }[] = []
  for (const own of [{}, {}, countLimit(8)])
    cards.push(await makeCard(send, { card_program_id: program.id, ...own }))
  const target = { card_program_id: program.id }
  const [first, second] = [
    await makeDraft({ max_authorization_count: 1 }, target),
    await makeDraft({ max_authorization_count: 2 }, target),
  ]
  const paths = [`/v1/card_programs/${program.id}`, ...cards.map(({ id }) => `/v1/cards/${id}`)]
  const counts = () => Promise.all(paths.map(countLimitOf))

  expect((await confirmed(`${DRAFTS}/${first.id}/promote`)).body.promotion.cards).toBe(3)
  expect(await counts()).toEqual([1, 1, 1, 1])
  await confirmed(`${DRAFTS}/${second.id}/promote`)
  expect(await counts()).toEqual([2, 2, 2, 2])
  expect((await send(`${DRAFTS}/${first.id}`)).body.status).toBe('superseded')

  await patch(send, paths[1]!, countLimit(5))
  await confirmed(`${DRAFTS}/${second.id}/roll_back`)
  expect(await counts()).toEqual([1, 5, 1, 1])
  expect((await send(`${DRAFTS}/${first.id}`)).body.status).toBe('active')
  await confirmed(`${DRAFTS}/${first.id}/roll_back`)
  expect(await counts()).toEqual([9, 5, 9, 8])
  const replaced = (await send(`${DRAFTS}/${first.id}/versions?order=asc`)).body.data
  expect(replaced.map(({ origin }: { origin: string }) => origin)).toEqual([
    'proposed',
    ...['replaced', 'replaced'],
    ...['restored', 'restored'],
  ])
})

test('of two promotions at the same time, one is refused, and the same of roll backs', async () => {
  const card = await makeCard(send, countLimit(9))
  const draft = await makeDraft({ max_authorization_count: 1 }, { card_id: card.id })
  for (const [step, status] of [
    ['promote', 'active'],
    ['roll_back', 'draft'],
  ]) {
    const path = `${DRAFTS}/${draft.id}/${step}`
    const answers = await confirmAll(path, path)
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
    expect((await send(`${DRAFTS}/${draft.id}`)).body.status).toBe(status)
  }
  expect(await countLimitOf(`/v1/cards/${card.id}`)).toBe(9)
  expect((await send(`${DRAFTS}/${draft.id}/versions`)).body.data).toHaveLength(3)
})

test('a shadow judges what the controls decide and nothing else, and at most three run', async () => {
  const card = await makeCard(send, countLimit(3))
  const drafts = []
  for (const controls of [{}, { blocked_categories: ['5812'] }, { max_authorization_count: 1 }, {}])
    drafts.push(await makeDraft(controls))
  for (const { id } of drafts.slice(0, 3)) await step(`${DRAFTS}/${id}/shadow`)
  expect(refusal(await send(`${DRAFTS}/${drafts[3]!.id}/shadow`, { body: {} }))).toEqual([
    409,
    'conflict',
    'invalid_state',
  ])
  const outcomes = (transaction: { shadow_decisions: { outcome: string }[] }) =>
    transaction.shadow_decisions.map(({ outcome }) => outcome)
  expect(outcomes(await authorize(card.id, 100))).toEqual(['same', 'would_decline', 'same'])
  const second = await authorize(card.id, 100)
  expect(outcomes(second)).toEqual(['same', 'would_decline', 'would_decline'])
  const more = (await simulate('increment', { card_transaction_id: second.id, amount: 50 })).body
  expect(outcomes(more)).toEqual(['same', 'would_decline', 'same']) // an increment is no further authorization
  expect(outcomes(await authorize(card.id, 100_000_000))).toEqual(['fixed', 'fixed', 'fixed'])
  await authorize(card.id, 100)
  const over = await authorize(card.id, 100)
  expect([over.status, ...outcomes(over)]).toEqual(['declined', 'would_approve', 'same', 'same'])
  const { result } = (await send(`${DRAFTS}/${drafts[0]!.id}/shadow`)).body
  expect(result).toEqual({
    evaluated: { count: 5, amount: 450 },
    approved_to_declined: { count: 0, amount: 0 },
    declined_to_approved: { count: 1, amount: 100 },
    amount_changed: { count: 0, amount: 0 },
    fixed: [{ cause: 'balance', count: 1, amount: 100_000_000 }],
    reasons: [
      { change: 'declined_to_approved', code: 'authorization_count_exceeded', count: 1, amount: 100 },
    ],
  })
  const { '2026-02-01': older } = await speakAll(service, tenantId)
  expect((await older(`/v1/card_transactions/${over.id}`)).body.shadow_decisions).toBeUndefined()
})
