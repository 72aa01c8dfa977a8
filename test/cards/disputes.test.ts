/** Disputes: their states, their time, their documents, and what they do to the ledger. */
import { beforeEach, describe, expect, test } from 'vitest'
import { disputeExpiryWorker } from '../../runtime/cards/disputes/expiry-job.ts'
import { readAccount } from '../../runtime/money/ledger/accounts.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { firstFault, refusal, speakFor } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { type Answer, makeTenant, type Send, START, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, make, makeCard, patch } from './fixtures.ts'

const service = useService()
let tenantId: string
let send: Send
beforeEach(async () => {
  await use('2026-05-19')
})

type Body = Answer['body']

const DAY = 86_400_000
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n').toString('base64')

async function use(version: string) {
  service.clock.monotonic += 120_000
  tenantId = await makeTenant(service, 'enterprise', version as '2026-05-19')
  send = await speakFor(service, tenantId)
}

async function makeCleared(amount = 1000): Promise<string> {
  const card = await makeCard(send)
  const merchant = {
    name: 'A',
    category_code: (await send('/v1/me')).body.version === '2025-11-01' ? 'restaurants' : '5812',
  }
  return (await make(send, '/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant })).id
}

const open = async (card_transaction_id: string, more: object = {}): Promise<Body> =>
  make(send, '/v1/disputes', { card_transaction_id, reason: 'not_received', ...more })
const act = async (id: string, what: 'submit' | 'withdraw') =>
  send(`/v1/disputes/${id}/${what}`, { method: 'POST' })
const decide = (dispute_id: string, outcome: string) =>
  send('/v1/test/disputes/simulate_outcome', { body: { dispute_id, outcome } })
const refund = (card_transaction_id: string, amount?: number) =>
  send('/v1/test/cards/simulate_refund', { body: { card_transaction_id, ...(amount && { amount }) } })
const CONFLICT = [409, 'conflict', 'invalid_state']

async function typesTold(): Promise<string[]> {
  const { data } = (await send('/v1/events?order=asc&limit=100')).body
  const about = data.filter(({ type }: Body) => type.startsWith('dispute.'))
  expect(about.flatMap(checkEvent)).toEqual([])
  return about.map(({ type }: Body) => type.slice('dispute.'.length))
}

/** Receivable, credited, cleared. */
async function accounts(): Promise<number[]> {
  await verifyLedger(service.operator, tenantId)
  const names = ['dispute_receivable', 'provisional_credit', 'network_clearing'] as const
  return Promise.all(
    names.map(async (name) => (await readAccount(service.database.sandbox, tenantId, name)).balance),
  )
}

test('a dispute is prepared, submitted, reviewed and won', async () => {
  const ctx = await makeCleared()
  const made = await open(ctx, {
    amount: 600,
    evidence: { explanation: 'Nothing came.' },
    metadata: { a: '1' },
  })
  expect(made).toMatchObject({
    object: 'dispute',
    card_transaction_id: ctx,
    amount: 600,
    currency: 'usd',
    reason: 'not_received',
    evidence: { explanation: 'Nothing came.', files: [] },
    status: 'unsubmitted',
    provisional_credit: 0,
    submission_deadline: '2026-07-31T12:00:00.000Z',
    submitted_at: null,
    closed_at: null,
    metadata: { a: '1' },
  })
  expect((await send(`/v1/disputes/${made.id}`)).body).toEqual(made)
  const { body: submitted } = await act(made.id, 'submit')
  expect(submitted).toMatchObject({
    status: 'submitted',
    provisional_credit: 600,
    submitted_at: submitted.updated,
  })
  expect(await accounts()).toEqual([-600, 600, 1000])
  expect((await send('/v1/balance')).body.available).toBe(-1000)
  expect((await decide(made.id, 'under_review')).body.status).toBe('under_review')
  expect((await decide(made.id, 'won')).body).toMatchObject({ status: 'won', provisional_credit: 0 })
  expect(await accounts()).toEqual([0, 600, 400])
  expect(await typesTold()).toEqual(['created', 'submitted', 'funds_reinstated', 'updated', 'closed'])
})

test.each([
  ['lost', ['submit', 'lost'], ['created', 'submitted', 'funds_reinstated', 'closed', 'funds_rescinded']],
  [
    'withdrawn',
    ['submit', 'withdraw'],
    ['created', 'submitted', 'funds_reinstated', 'closed', 'funds_rescinded'],
  ],
  ['withdrawn', ['withdraw'], ['created', 'closed']],
] as const)(
  'a dispute is %s after %j: nothing is left of it, and the transaction can be disputed again',
  async (status, steps, told) => {
    const ctx = await makeCleared()
    const { id } = await open(ctx)
    for (const step of steps) {
      const answer = step === 'lost' ? await decide(id, step) : await act(id, step)
      expect([step, answer.status]).toEqual([step, 200])
    }
    expect((await send(`/v1/disputes/${id}`)).body).toMatchObject({ status, provisional_credit: 0 })
    expect(await accounts()).toEqual([0, 0, 1000])
    expect(await typesTold()).toEqual(told)
    for (const refused of [await act(id, 'submit'), await act(id, 'withdraw'), await decide(id, 'won')]) {
      expect(refusal(refused)).toEqual(CONFLICT)
    }
    expect((await open(ctx)).amount).toBe(1000)
  },
)

test('a dispute has 60 days to be submitted, by the service clock; then a worker ends it, once', async () => {
  const [late, early] = [await open(await makeCleared()), await open(await makeCleared())]
  service.clock.now = START + 60 * DAY - 1
  expect((await act(early.id, 'submit')).status).toBe(200)
  service.clock.now += 1
  expect(refusal(await act(late.id, 'submit'))).toEqual(CONFLICT)
  expect(refusal(await patch(send, `/v1/disputes/${late.id}`, { amount: 1 }))).toEqual(CONFLICT)
  const parts = {
    database: service.database,
    clock: service.clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }
  await Promise.all([disputeExpiryWorker(parts).runOnce(), disputeExpiryWorker(parts).runOnce()])
  expect((await send(`/v1/disputes/${late.id}`)).body).toMatchObject({
    status: 'expired',
    closed_at: late.submission_deadline,
  })
  expect((await send(`/v1/disputes/${early.id}`)).body.status).toBe('submitted')
  expect((await typesTold()).filter((type) => type === 'closed')).toEqual(['closed'])
  const again = await send('/v1/disputes', {
    body: { card_transaction_id: late.card_transaction_id, reason: 'other' },
  })
  expect(refusal(again)).toEqual(CONFLICT)
})

describe('what was cleared', () => {
  test('a cleared amount is disputed and refunded once', async () => {
    const ctx = await makeCleared()
    await open(ctx, { amount: 700 })
    const more = await send('/v1/disputes', {
      body: { card_transaction_id: ctx, reason: 'other', amount: 301 },
    })
    expect(refusal(more)).toEqual(CONFLICT)
    expect((await refund(ctx, 100)).status).toBe(200)
    expect((await open(ctx)).amount).toBe(200)
    expect(refusal(await refund(ctx, 901))).toEqual(CONFLICT)
  })

  test('a cleared amount is refunded while it is disputed: what is refunded is disputed no more', async () => {
    const ctx = await makeCleared()
    const older = await open(ctx, { amount: 500 })
    const newer = await open(ctx, { amount: 300 })
    await act(older.id, 'submit')
    const get = async ({ id }: Body) => (await send(`/v1/disputes/${id}`)).body
    const both = async () => [await get(older), await get(newer)]
    // 200 are disputed by nobody.
    expect((await refund(ctx, 200)).body.amounts.refunded).toBe(200)
    expect(await both()).toMatchObject([{ amount: 500 }, { amount: 300, status: 'unsubmitted' }])
    await refund(ctx, 100)
    expect(await both()).toMatchObject([{ amount: 500 }, { amount: 200, status: 'unsubmitted' }])
    await refund(ctx, 300)
    expect(await both()).toMatchObject([
      { amount: 400, provisional_credit: 400, status: 'submitted' },
      { amount: 200, status: 'withdrawn' },
    ])
    expect(await accounts()).toEqual([-400, 400, 400])
    await decide(older.id, 'under_review')
    await refund(ctx, 150)
    expect(await get(older)).toMatchObject({ amount: 250, provisional_credit: 250, status: 'under_review' })
    expect((await refund(ctx)).body.amounts).toMatchObject({ cleared: 1000, refunded: 1000 })
    expect(await get(older)).toMatchObject({ amount: 250, provisional_credit: 0, status: 'lost' })
    expect(await accounts()).toEqual([0, 0, 0])
    expect((await typesTold()).slice(4)).toEqual([
      ...['updated', 'closed', 'updated', 'funds_rescinded', 'updated', 'updated', 'funds_rescinded'],
      ...['closed', 'funds_rescinded'],
    ])
    expect(refusal(await refund(ctx))).toEqual(CONFLICT)
  })

  test('a cleared amount is not refunded where the network has given it back', async () => {
    const ctx = await makeCleared()
    const { id } = await open(ctx, { amount: 700 })
    await act(id, 'submit')
    await decide(id, 'won')
    expect(refusal(await refund(ctx, 301))).toEqual(CONFLICT)
    expect((await refund(ctx)).body.amounts.refunded).toBe(300)
    expect((await send(`/v1/disputes/${id}`)).body).toMatchObject({ amount: 700, status: 'won' })
  })

  test('a cleared amount is disputed once by many at once', async () => {
    const ctx = await makeCleared()
    const body = { card_transaction_id: ctx, reason: 'other', amount: 300 }
    const all = await Promise.all(Array.from({ length: 16 }, () => send('/v1/disputes', { body })))
    expect(all.filter(({ status }) => status === 201)).toHaveLength(3)
    const { rows } = await service.database.control.query<{ disputed: number }>(
      { text: 'SELECT disputed FROM sandbox.card_transactions WHERE tenant_id = $1 AND id = $2' },
      [tenantId, ctx],
    )
    expect(rows).toEqual([{ disputed: 900 }])
  })

  test('a dispute needs a transaction that has cleared', async () => {
    const card = await makeCard(send)
    const declined = await make(send, '/v1/test/cards/simulate_decline', {
      card_id: card.id,
      amount: 1,
      reason: 'card_lost',
    })
    const answer = await send('/v1/disputes', { body: { card_transaction_id: declined.id, reason: 'other' } })
    expect(refusal(answer)).toEqual(CONFLICT)
    const missing = { card_transaction_id: 'ctx_00000000000000000000000000', reason: 'other' }
    expect(firstFault(await send('/v1/disputes', { body: missing }))[2]).toMatchObject({
      field: 'card_transaction_id',
    })
  })
})

describe('evidence', () => {
  const file = (content: string, content_type: string, name = 'a') => ({ name, content_type, content })
  const fileOf = (bytes: number) =>
    Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(bytes - 9, 0x20)]).toString('base64')

  test('evidence of a dispute is kept, and shown without its content', async () => {
    const files = [
      file(PNG, 'image/png', 'order.png'),
      file(PDF, 'application/pdf'),
      file(fileOf(750_000), 'application/pdf'),
    ]
    const { id, evidence } = await open(await makeCleared(), { evidence: { files } })
    expect(evidence.files[0]).toEqual({
      name: 'order.png',
      content_type: 'image/png',
      size: Buffer.from(PNG, 'base64').length,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const kept = async () => {
      const text = `SELECT encode(content, 'base64') AS content FROM sandbox.dispute_files WHERE tenant_id = $1 AND dispute_id = $2 ORDER BY position`
      const { rows } = await service.database.control.query<{ content: string }>({ text }, [tenantId, id])
      return rows.map(({ content }) => content.replaceAll('\n', ''))
    }
    expect(await kept()).toEqual(files.map(({ content }) => content))
    expect((await send('/v1/disputes')).body.data[0].evidence).toEqual(evidence)
    const renewed = await patch(send, `/v1/disputes/${id}`, { evidence: { files: [files[1]] } })
    expect([renewed.body.evidence.files.length, await kept()]).toEqual([1, [PDF]])
    const explained = await patch(send, `/v1/disputes/${id}`, { evidence: { explanation: 'So it was.' } })
    expect([explained.body.evidence.files.length, explained.body.evidence.explanation]).toEqual([
      1,
      'So it was.',
    ])
    const removed = await patch(send, `/v1/disputes/${id}`, { evidence: null })
    expect([removed.body.evidence, await kept()]).toEqual([{ explanation: null, files: [] }, []])
  })

  test.each(CARD_VERSIONS)(
    'a dispute in %s takes five files of 1 MiB each; not much more, nor a sixth',
    async (version) => {
      await use(version)
      const largest = () => file(fileOf(1_048_576), 'application/pdf')
      const dispute = async (files: readonly object[]) =>
        send('/v1/disputes', {
          body: { card_transaction_id: await makeCleared(), reason: 'other', evidence: { files } },
        })
      const { status, body } = await dispute(Array.from({ length: 5 }, largest))
      expect([status, body.evidence?.files.map(({ size }: Body) => size)]).toEqual([
        201,
        Array(5).fill(1_048_576),
      ])
      const longer = await dispute([file(fileOf(1_048_579), 'application/pdf')])
      expect(firstFault(longer)).toMatchObject([
        422,
        'validation_failed',
        { field: 'evidence.files[0].content' },
      ])
      expect((await dispute(Array.from({ length: 6 }, largest))).status).toBe(413)
      const renewed = await patch(send, `/v1/disputes/${body.id}`, { evidence: { files: [largest()] } })
      expect([renewed.status, renewed.body.evidence.files.length]).toEqual([200, 1])
    },
  )

  test.each([
    ['of another type', file(PNG, 'application/pdf'), 'is image/png; expected application/pdf'],
    [
      'of no type',
      file(Buffer.from('<script>').toString('base64'), 'image/png'),
      'is of an unknown type; expected image/png',
    ],
    ['empty', file('', 'image/png'), 'is of an unknown type; expected image/png'],
    ['no base64', file('iVBORw0KGgo', 'image/png'), 'is not valid base64'],
  ])('evidence of a dispute is refused by field: %s', async (_, wrong, issue) => {
    const ctx = await makeCleared()
    const body = {
      card_transaction_id: ctx,
      reason: 'other',
      evidence: { files: [file(PNG, 'image/png'), wrong] },
    }
    expect(firstFault(await send('/v1/disputes', { body }))).toEqual([
      422,
      'validation_failed',
      { field: 'evidence.files[1].content', issue },
    ])
    expect((await send('/v1/disputes')).body.data).toEqual([])
  })
})

test('a dispute is changed until it is submitted, and annotated at any time', async () => {
  const { id } = await open(await makeCleared(), { amount: 600 })
  const change = (body: object) => patch(send, `/v1/disputes/${id}`, body)
  expect((await change({ amount: 900, reason: 'duplicate' })).body).toMatchObject({
    amount: 900,
    reason: 'duplicate',
  })
  expect(refusal(await change({ amount: 1001 }))).toEqual(CONFLICT)
  expect((await change({ amount: 1000 })).body.amount).toBe(1000)
  await act(id, 'submit')
  for (const body of [{ amount: 1 }, { reason: 'other' }, { evidence: null }])
    expect(refusal(await change(body))).toEqual(CONFLICT)
  expect((await change({ metadata: { a: '1' } })).body.metadata).toEqual({ a: '1' })
  expect((await change({ status: 'won' })).status).toBe(422)
  for (const amount of [0, -1, 1.5, '1', 1e15 + 1]) {
    expect(firstFault(await change({ amount }))[2]).toMatchObject({ field: 'amount' })
  }
})

describe.each(CARD_VERSIONS)('%s', (version) => {
  test('the version names complaints as it does, in bodies, filters and events', async () => {
    await use(version)
    const reason = version === '2026-05-19' ? 'customer_complaint' : 'customer_dispute'
    const other = version === '2026-05-19' ? 'customer_dispute' : 'customer_complaint'
    const ctx = await makeCleared()
    const { id } = await open(ctx, { reason })
    expect((await send(`/v1/disputes/${id}`)).body.reason).toBe(reason)
    expect((await send(`/v1/disputes?reason=${reason}&status=unsubmitted`)).body.data).toHaveLength(1)
    expect((await send(`/v1/disputes?card_transaction_id=${ctx}&reason=fraudulent`)).body.data).toEqual([])
    expect((await send(`/v1/disputes?reason=${other}`)).status).toBe(400)
    const { data } = (await send('/v1/events?type=dispute.created')).body
    expect(data[0].data.dispute.reason).toBe(reason)
    const refused = await send('/v1/disputes', { body: { card_transaction_id: ctx, reason: other } })
    expect(firstFault(refused)[2]).toMatchObject({ field: 'reason' })
  })
})
