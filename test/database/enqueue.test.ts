/** Statements that travel with the COMMIT: when the connection is lost under one, its transaction fails and nothing else. */
import { pino } from 'pino'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createAccountChanges } from '../../runtime/account/account/changes.ts'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { failed, report } from '../../runtime/money/chain/report.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { bankWorker } from '../../runtime/money/payouts/bank-job.ts'
import { openTransferListener } from '../../runtime/money/payouts/transfer-listener.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { speakFor } from '../api/fixtures.ts'
import { make } from '../cards/fixtures.ts'
import { makePayable } from '../support/payable.ts'
import { until } from '../support/programs.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'

const ACCOUNT = {
  holder_name: 'A',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}
const ADDRESS = `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`

const service = useService({ guarded: false })
let tenantId: string
const unhandled = vi.fn()

beforeAll(async () => {
  tenantId = await makeTenant(service)
  await verifyTenant(service.operator, tenantId)
})
beforeEach(() => {
  process.on('unhandledRejection', unhandled)
})
afterEach(() => {
  process.off('unhandledRejection', unhandled)
  unhandled.mockReset()
})

/** Loses the connection on which the work changes the table, in the middle of that; gives what the work has failed with. */
async function loseConnection(change: string, table: string, work: () => Promise<unknown>): Promise<unknown> {
  const { control } = service.database
  await control.query({
    text: `CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep(600); RETURN new; END $$;
           CREATE TRIGGER dawdle BEFORE ${change} ON ${table} FOR EACH ROW EXECUTE FUNCTION public.dawdle()`,
  })
  const outcome = work().then(
    () => undefined,
    (error: unknown) => error,
  )
  const text = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event = 'PgSleep'`
  await until('the statement', async () => (await control.query({ text })).count === 1)
  const failure = await outcome
  await control.query({ text: 'DROP FUNCTION public.dawdle() CASCADE' })
  return failure
}

async function makePayout(send: Send, environment: 'sandbox' | 'live', destination: object): Promise<string> {
  const { id } = await make(send, '/v1/payout_destinations', { ...destination, holder_name: 'A' })
  await makePayable(service.database, environment, tenantId, id, 1000)
  const currency = environment === 'live' ? 'usd' : 'usdc'
  return (await make(send, '/v1/payouts', { amount: 1000, currency, destination_id: id })).id
}

async function reportOfChain(): Promise<() => Promise<unknown>> {
  const { database, clock } = service
  const send = await speakFor(service, tenantId)
  const id = await makePayout(send, 'sandbox', { type: 'usdc_address', address: ADDRESS })
  const parts = { database, sanctions: service.sanctions, wakeUpChannel: { publish: () => {} } }
  const openListener = () => openTransferListener(parts, 'sandbox', tenantId)
  const place = { environment: 'sandbox', space: tenantId, id } as const
  return () => report({ pools: database, clock, openListener }, place, failed('rejected'))
}

async function answerOfBank(): Promise<() => Promise<unknown>> {
  const { database, clock } = service
  const send = await speakFor(service, tenantId, 'live')
  const token = await make(send, '/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT })
  await makePayout(send, 'live', { type: 'bank_account', token_id: token.id })
  const refuse = async () => ({ outcome: 'refused', failure_code: 'account_closed' }) as const
  const parts = {
    sanctions: service.sanctions,
    wakeUpChannel: { publish: () => {} },
    seals: createSeals(database.pepper),
  }
  return () =>
    bankWorker({
      ...parts,
      log: pino({ level: 'silent' }),
      database,
      clock,
      bank: { pay: refuse, find: refuse },
    }).runOnce()
}

const changeOf = (change: 'changeBilling' | 'rotateKeys') => async (): Promise<() => Promise<unknown>> => {
  const { database, clock } = service
  const changes = createAccountChanges(database.control, database.pepper, 'sandbox', clock)
  const tenant = { id: tenantId, name: 'Harbour Coffee', plan: 'enterprise', created: 0 } as const
  return () =>
    changes.forTenant(tenantId).transaction(async (db) => {
      const account = changes.bind(db, {
        tenant,
        space: tenantId,
        key: { id: '', kind: 'secret', scope: 'admin' },
        now: clock.now,
        moved: () => {},
        changed: () => {},
      })
      await (change === 'rotateKeys' ? account.rotateKeys() : account.changeBilling({ billingEmail: null }))
    })
}

test.each([
  ['a transfer that is told of', 'UPDATE', 'sandbox.chain_transfers', reportOfChain],
  ['the event that tells of a transfer', 'INSERT', 'sandbox.events', reportOfChain],
  ['the event that tells what a bank has answered', 'INSERT', 'live.events', answerOfBank],
  ['a change of what is billed', 'UPDATE', 'control.revision', changeOf('changeBilling')],
  ['a rotation of keys', 'UPDATE', 'control.revision', changeOf('rotateKeys')],
])('%s is lost with its connection, and the process goes on', async (_, change, table, prepare) => {
  const work = await prepare()
  expect(await loseConnection(change, table, work)).toBeInstanceOf(DatabaseUnavailable)
  await new Promise((resolve) => setImmediate(resolve)) // Node tells of a rejection after the tick of the event loop
  expect(unhandled.mock.calls).toEqual([])
})
