/** Workers are killed while they ask the bank: each payout is paid once, and what the database tells is what the bank has done. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { type BankStandIn, startBankStandIn } from '../../runtime/money/payouts/fake-bank.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { createTenant, verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { makePayable } from '../support/payable.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'
import { type Send, speak } from '../support/service.ts'

const TOKEN = 'bearer of the service'
const ACCOUNT = {
  holder_name: 'A',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

let database: TestDatabase
let standIn: BankStandIn
let tenantId: string
let send: Send
let destination: string

/** A node that answers and works, with the bank of the test. */
const startNode = (): Program =>
  startService(
    {
      DATABASE_URL: database.url,
      SVC_PEPPER: database.pepper,
      SVC_BANK_URL: standIn.url,
      SVC_BANK_TOKEN: TOKEN,
    },
    ['--json', '--role', 'api', '--role', 'worker'],
  )

let node: Program
async function restart(): Promise<void> {
  node = startNode()
  const { live_base_url } = await node.ready()
  const { secret } = await createKey(database.operator, { tenantId, environment: 'live', scope: 'write' })
  send = speak(String(live_base_url), { secret, version: current })
}

beforeAll(async () => {
  standIn = await startBankStandIn(TOKEN)
  database = await openTestDatabase({ poolSize: 4 })
  tenantId = (await createTenant(database.operator, { name: 'Crash', plan: 'enterprise' }, current)).id
  await verifyTenant(database.operator, tenantId)
  await restart()
  const token = await make('/v1/tokens', { type: 'bank_account', bank_account: ACCOUNT })
  const body = { type: 'bank_account', token_id: token, holder_name: 'A' }
  destination = await make('/v1/payout_destinations', body)
  await makePayable(database, 'live', tenantId, destination, 100_000)
}, 60_000)
afterAll(async () => {
  await endPrograms()
  await standIn.close()
  await database.close()
})

async function make(path: string, body: object): Promise<string> {
  const answer = await send(path, { body })
  expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text])
  return answer.body.id
}

/** What was leased by who is dead may be taken at once. */
const endLeases = () =>
  database.control.query({ text: `UPDATE live.bank_transfers SET due = 'epoch' WHERE due IS NOT NULL` })

const requestsOf = (method: string) => standIn.requests.filter((each) => each.method === method).length

/** When the node is killed, by what the bank has seen; `arm` is before, and tells when. */
const MOMENTS: readonly (readonly [string, () => () => boolean])[] = [
  [
    'before the bank has taken it',
    () => {
      let asked = false
      standIn.fault = (method) => {
        asked ||= method === 'POST'
        return 'hang'
      }
      return () => asked
    },
  ],
  [
    'when the bank has taken it, and has not said so',
    () => {
      const before = standIn.payments.length
      standIn.afterTaken = () => 'hang'
      return () => standIn.payments.length > before
    },
  ],
  [
    'as soon as the bank has answered',
    () => {
      const before = requestsOf('POST')
      return () => requestsOf('POST') > before
    },
  ],
  [
    'when it asks how the payment stands',
    () => {
      let asked = false
      standIn.fault = (method) => {
        asked ||= method === 'GET'
        return method === 'GET' ? 'hang' : undefined
      }
      return () => asked
    },
  ],
]

test.each(MOMENTS)(
  'a payout is paid once when the worker is killed %s',
  { timeout: 120_000 },
  async (_, arm) => {
    const isThere = arm()
    const before = standIn.payments.length
    const id = await make('/v1/payouts', { amount: 1000, currency: 'usd', destination_id: destination })
    await until('the moment', async () => {
      if (standIn.payments.some(({ key, status }) => key === id && status === 'pending')) await endLeases()
      return isThere()
    })
    await node.end('SIGKILL')
    standIn.fault = () => undefined
    standIn.afterTaken = () => undefined
    await endLeases()
    await restart()
    await until('the payout to arrive', async () => {
      await endLeases()
      return (await send(`/v1/payouts/${id}`)).body.status === 'paid'
    })
    expect(standIn.payments.slice(before).map(({ key, amount }) => [key, amount])).toEqual([[id, 1000]])
    const types = `SELECT type FROM live.events WHERE tenant_id = $1 AND body::text LIKE '%' || $2 || '%' ORDER BY sequence`
    const { rows } = await database.control.query<{ type: string }>({ text: types }, [tenantId, id])
    expect(rows.map(({ type }) => type)).toEqual(['payout.created', 'payout.updated', 'payout.paid'])
    await verifyLedger(database.operator, tenantId)
  },
)
