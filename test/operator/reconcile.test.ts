/** A restored database is compared with a real chain and with a bank: each payout is paid once, and all of them are known. */
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { arePayoutsHeld } from '../../runtime/database/backup/restored.ts'
import { collectEvents } from '../../runtime/events/emit/emit.ts'
import { readDestination } from '../../runtime/money/destinations/queries.ts'
import { openPayout } from '../../runtime/money/payouts/changes.ts'
import { type BankStandIn, startBankStandIn } from '../../runtime/money/payouts/fake-bank.ts'
import { openBank } from '../../runtime/money/payouts/open-bank.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { reconcile } from '../../runtime/operator/reconcile/reconcile.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { createTenant } from '../../runtime/tenants/admin/tenants.ts'
import {
  enqueueOne,
  KEY,
  makeWorker,
  type Network,
  someAddress,
  startNetwork,
} from '../money/chain/network.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { settleInto } from '../support/payable.ts'

const TOKEN = 'bearer of the service'
const PAYEE = someAddress(9)
const ACCOUNT = {
  holder_name: 'A',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}
const log = pino({ level: 'silent' })

let database: TestDatabase
let network: Network
let standIn: BankStandIn
let tenantId: string
beforeAll(async () => {
  ;[database, network, standIn] = await Promise.all([
    openTestDatabase(),
    startNetwork(),
    startBankStandIn(TOKEN),
  ])
  await network.rpc.ask('evm_setTime', Date.now())
  await network.rpc.ask('evm_mine')
  tenantId = (await createTenant(database.operator, { name: 'Restored', plan: 'enterprise' }, current)).id
})
afterAll(async () => {
  await network.stop()
  await standIn.close()
  await database.close()
})

const run = (text: string, values: readonly unknown[] = []) => database.control.query({ text }, values)

async function addDestination(environment: 'sandbox' | 'live', id: string): Promise<void> {
  const isBank = environment === 'live'
  await run(
    `INSERT INTO ${environment}.payout_destinations (tenant_id, id, type, status, address, bank_account, account, holder_name,
       active_at, metadata, created, updated) VALUES ($1, $2, $3, 'active', $4, $5, $6, 'A', now(), '{}', now(), now())`,
    [
      ...[tenantId, id, isBank ? 'bank_account' : 'usdc_address', isBank ? null : `eip155:31337:${PAYEE}`],
      ...(isBank
        ? [JSON.stringify({ last4: '6789', routing_number: '110000000', country: 'US' }), Buffer.of(1)]
        : [null, null]),
    ],
  )
}

test('payments that a restored database does not know are adopted or recorded, and none is made twice', async () => {
  const [usdc, bank] = [newId('pod'), newId('pod')]
  await addDestination('sandbox', usdc)
  await addDestination('live', bank)
  await settleInto(database, 'sandbox', tenantId, 10_000)
  const settings = readSettings({
    ...{ SVC_CHAIN_RPC_URL: network.anvil.url, SVC_USDC_ADDRESS: network.token, SVC_PAYOUT_KEY: KEY },
    ...{ SVC_CHAIN_CONFIRMATIONS: '1', SVC_ALLOW_TEST_CHAIN: '1' },
    ...{ SVC_BANK_URL: standIn.url, SVC_BANK_TOKEN: TOKEN },
  })
  const look = (apply: boolean) =>
    reconcile(database.operator, database, settings, { apply, leaveUnknown: false }, log)

  // What happened after the time that the database is restored to: three payments.
  const waiting = await enqueueOne(database, PAYEE, 500, tenantId)
  const forgotten = await enqueueOne(database, PAYEE, 700, tenantId)
  const worker = makeWorker(database, network)
  await worker.pay([waiting, forgotten])
  await worker.close()
  const atBank = newId('po')
  const open = await openBank(settings, log)
  await open.bank!.pay({ id: atBank, amount: 900 }, ACCOUNT)
  await open.close()

  // The database of that time: one payout waits, two are not there.
  await run('DELETE FROM control.chain_payments')
  await run('DELETE FROM control.chain_transactions')
  await run('UPDATE control.chain_signers SET next_nonce = 0')
  await run('DELETE FROM sandbox.chain_transfers WHERE id = $1', [forgotten])
  await run(
    `UPDATE sandbox.chain_transfers SET state = 'queued', due = '-infinity', hash = NULL, confirmations = 0`,
  )
  await run(
    `UPDATE control.restores SET restored_to = now() - interval '1 minute', restored_at = now(), reconciled_at = NULL`,
  )
  const late = await database.sandbox.forTenant(tenantId).transaction(async (db) => {
    const place = { db, space: tenantId, events: collectEvents({ tenantId, pin: null, now: Date.now() }) }
    const destination = await readDestination(db, tenantId, usdc)
    return openPayout(place, { amount: 9_800, settlement_id: null, metadata: {} }, destination!, Date.now())
  })

  const after = makeWorker(database, network)
  expect(await arePayoutsHeld(database.control)).toBe(true)
  await after.look()
  expect((await run('SELECT 1 FROM control.chain_payments')).rows).toEqual([])

  const shown = await look(false)
  expect(shown).toMatchObject({ applied: false, payouts_continue: false })
  expect(shown.found.map(({ from, action, amount }) => [from, action, amount])).toEqual([
    ['chain', 'adopt', 500],
    ['chain', 'record', 700],
    ['bank', 'record', 900],
  ])
  // 200 cents are left, and 700 were paid already.
  expect(shown.overdrawn).toEqual([
    { environment: 'sandbox', tenant_id: tenantId, id: late.id, amount: 9_800 },
  ])
  expect(await look(true)).toMatchObject({ applied: true, payouts_continue: true })
  expect((await look(true)).next).toContain('nothing to do')

  await after.pay([waiting])
  await after.close()
  expect(await network.balanceOf(PAYEE)).toBe(12_000_000n)
  const { rows } = await run(
    `SELECT p.id, p.status, p.amount FROM sandbox.payouts p UNION ALL SELECT p.id, p.status, p.amount FROM live.payouts p ORDER BY amount`,
  )
  expect(rows).toMatchObject([
    { status: 'paid', amount: 700 },
    { id: atBank, status: 'in_transit', amount: 900 },
    { id: late.id, status: 'failed', amount: 9_800 },
  ])
  expect(await verifyLedger(database.operator, tenantId)).toMatchObject({ balanced: true })
})
