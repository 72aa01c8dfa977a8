/** A row that a worker cannot handle is set aside: the other rows are done, and it is done as soon as it can be. */
import { type Logger, pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { disputeExpiryWorker } from '../../runtime/cards/disputes/expiry-job.ts'
import { payloadWorker } from '../../runtime/cards/provisioning/stand-in-job.ts'
import { holdExpiryWorker } from '../../runtime/cards/transactions/expiry-job.ts'
import type { DueParts } from '../../runtime/events/due-work.ts'
import { activationWorker } from '../../runtime/money/destinations/activation-job.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { passExpiryWorker } from '../../runtime/passes/passes/expiry-job.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { issuePass, makeTemplate, speakFor } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'

const service = useService()

const DAY = 86_400_000
const MINUTE = 60_000

/** Lines that were logged as errors. */
let logged: { id: string; work: string; err: { message: string } }[]
const log: Logger = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) })

/** @param later how much later a worker looks, by machine time. */
const partsAt = (later: number): DueParts => ({
  database: service.database,
  clock: { ...service.clock, machine: () => Date.now() + later },
  log,
  wakeUpChannel: { publish: () => {} },
})

const query = async <Row>(text: string, ...values: unknown[]) =>
  (await service.database.control.query<Row>({ text }, values)).rows

/** Every change of the row fails, until it is cured. */
async function poison(table: string, column: string, id: string): Promise<() => Promise<unknown>> {
  const name = `poison_${id}`
  await query(`CREATE FUNCTION sandbox.${name}() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'the row is poisoned'; END $$`)
  await query(`CREATE TRIGGER ${name} BEFORE UPDATE OR DELETE ON sandbox.${table} FOR EACH ROW
    WHEN (OLD.${column} = '${id}') EXECUTE FUNCTION sandbox.${name}()`)
  return () => query(`DROP FUNCTION sandbox.${name} CASCADE`)
}

const setAside = (work: string) =>
  query<{ subject_id: string; reason: string; tries: number }>(
    'SELECT subject_id, reason, tries FROM control.set_aside_work WHERE work = $1',
    work,
  )

interface Worker {
  /** The name of its work. */
  readonly work: string
  readonly table: string
  /** The column that names a row to set aside. Default: id. */
  readonly column?: string
  run(parts: DueParts): Promise<unknown>
  /** Makes something that is due for the worker after `after` milliseconds of service time; gives the row. */
  prepare(send: Send, space: string): Promise<string>
  readonly after: number
  /** Whether the work was done for it. */
  isDone(send: Send, id: string): Promise<boolean>
}

const MERCHANT = { name: 'A', category_code: '5812' }
const statusOf = async (send: Send, path: string) => (await send(path)).body.status

async function authorize(send: Send): Promise<string> {
  const card = await makeCard(send)
  await send('/v1/test/funding', { body: { amount: 100_000 } })
  const body = { card_id: card.id, amount: 100, merchant: MERCHANT }
  return (await make(send, '/v1/test/cards/simulate_authorization', body)).id
}

async function clear(send: Send): Promise<string> {
  const body = { card_id: (await makeCard(send)).id, amount: 100, merchant: MERCHANT }
  return (await make(send, '/v1/test/cards/simulate_force_post', body)).id
}

let addresses = 0
const WORKERS: readonly Worker[] = [
  {
    work: 'pass_expiry',
    table: 'passes',
    run: (parts) =>
      passExpiryWorker({
        ...parts,
        baseUrls: { ...service.urls, console: '' },
        passTokens: openPassTokens(service.database.pepper),
      }).runOnce(),
    async prepare(send) {
      const expires_at = new Date(service.clock.now + MINUTE).toISOString()
      return (await issuePass(send, await makeTemplate(send), { expires_at })).id
    },
    after: MINUTE,
    isDone: async (_, id) => {
      // The API shows a pass as expired before the worker does its work.
      const [pass] = await query<{ status: string }>('SELECT status FROM sandbox.passes WHERE id = $1', id)
      return pass!.status === 'expired'
    },
  },
  {
    work: 'hold_expiry',
    table: 'card_transactions',
    run: (parts) => holdExpiryWorker(parts).runOnce(),
    prepare: authorize,
    after: 7 * DAY,
    isDone: async (send, id) => (await statusOf(send, `/v1/card_transactions/${id}`)) === 'expired',
  },
  {
    work: 'dispute_expiry',
    table: 'disputes',
    run: (parts) => disputeExpiryWorker(parts).runOnce(),
    prepare: async (send) =>
      (await make(send, '/v1/disputes', { card_transaction_id: await clear(send), reason: 'other' })).id,
    after: 61 * DAY,
    isDone: async (send, id) => (await statusOf(send, `/v1/disputes/${id}`)) === 'expired',
  },
  {
    work: 'settlements',
    table: 'settlements',
    column: 'tenant_id',
    run: (parts) => settlementWorker({ ...parts, sanctions: service.sanctions }).runOnce(),
    async prepare(send, space) {
      await clear(send)
      return space
    },
    after: 2 * DAY,
    isDone: async (send) => (await send('/v1/settlements')).body.data[0].status === 'settled',
  },
  {
    work: 'destination_activation',
    table: 'payout_destinations',
    column: 'tenant_id',
    run: (parts) => activationWorker({ ...parts, sanctions: service.sanctions }).runOnce(),
    async prepare(send, space) {
      addresses += 1
      const address = `eip155:31337:0x${addresses.toString().padStart(40, '0')}`
      await make(send, '/v1/payout_destinations', { type: 'usdc_address', address, holder_name: 'A' })
      return space
    },
    after: DAY,
    isDone: async (send) => (await send('/v1/payout_destinations')).body.data[0].status === 'active',
  },
  {
    work: 'provisioning_payloads',
    table: 'provisioning_payloads',
    run: (parts) => payloadWorker(parts).runOnce(),
    async prepare(send) {
      const { id } = await makeCard(send)
      const device = { client_device_id: 'dev-1', client_wallet_account_id: 'wal-1' }
      return (await make(send, `/v1/cards/${id}/provisioning_payloads`, { wallet: 'google_pay', ...device }))
        .id
    },
    after: 0,
    isDone: async (send, id) => {
      const { data } = (await send('/v1/wallet_tokens')).body
      return data.some((token: { provisioning_payload_id: string }) => token.provisioning_payload_id === id)
    },
  },
]

describe.each(WORKERS)('$work', ({ work, table, column = 'id', run, prepare, after, isDone }) => {
  test('a worker leaves a row that fails, does the others, and does it when it can be done', async () => {
    logged = []
    const made: { send: Send; id: string }[] = []
    for (const count of [2, 1, 1]) {
      const space = await makeTenant(service)
      const send = await speakFor(service, space)
      const isOfTenant = column === 'tenant_id'
      for (let at = 0; at < (isOfTenant ? 1 : count); at += 1)
        made.push({ send, id: await prepare(send, space) })
    }
    service.clock.now += after
    const [bad, ...others] = made
    const cure = await poison(table, column, bad!.id)
    const done = () => Promise.all(made.map(({ send, id }) => isDone(send, id)))

    await run(partsAt(0))
    expect(await done()).toEqual([false, ...others.map(() => true)])
    expect(await setAside(work)).toEqual([{ subject_id: bad!.id, reason: 'the row is poisoned', tries: 1 }])
    expect(logged.map((line) => [line.work, line.id, line.err.message])).toEqual([
      [work, bad!.id, 'the row is poisoned'],
    ])

    await run(partsAt(0)) // it waits
    expect(await setAside(work)).toMatchObject([{ tries: 1 }])
    await run(partsAt(MINUTE + 1000))
    expect(await setAside(work)).toMatchObject([{ tries: 2 }])
    await run(partsAt(2 * MINUTE)) // it waits for two minutes now
    expect(await setAside(work)).toMatchObject([{ tries: 2 }])

    await cure()
    await run(partsAt(4 * MINUTE))
    expect(await done()).toEqual(made.map(() => true))
    expect(await setAside(work)).toEqual([])
  })
})

test('more rows that fail than a look finds do not hide the others', async () => {
  logged = []
  const send = await speakFor(service, await makeTenant(service))
  const phones = WORKERS.find(({ work }) => work === 'provisioning_payloads')!
  const good = await phones.prepare(send, '')
  await query(
    `INSERT INTO sandbox.provisioning_payloads
     SELECT (json_populate_record(p, json_build_object('id', 'ppl_0poison' || n, 'created', p.created - interval '1 hour'))).*
       FROM sandbox.provisioning_payloads p, generate_series(1, 120) AS n WHERE p.id = $1`,
    good,
  )
  await query(`CREATE FUNCTION sandbox.poison_many() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'the row is poisoned'; END $$`)
  await query(`CREATE TRIGGER poison_many BEFORE UPDATE ON sandbox.provisioning_payloads FOR EACH ROW
    WHEN (OLD.id LIKE 'ppl_0poison%') EXECUTE FUNCTION sandbox.poison_many()`)
  await phones.run(partsAt(0))
  expect(await phones.isDone(send, good)).toBe(true)
  expect(await setAside(phones.work)).toHaveLength(120)
  await query('DROP FUNCTION sandbox.poison_many CASCADE')
})
