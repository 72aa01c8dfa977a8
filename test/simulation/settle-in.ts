/** What a merchant creates before its first day, and what it reads at the end of each. */
import { must, walk } from './actions/action.ts'
import { readSettlements } from './actions/cards.ts'
import { BANK_ACCOUNT, setDefault } from './actions/destinations.ts'
import { readMoney } from './actions/money-reads.ts'
import { AUTHORIZER_PREFIX, STAND_IN } from './authorizations/authorizers.ts'
import { accountOf } from './chain/node.ts'
import { mustEqual } from './checks/must.ts'
import type { Client } from './client.ts'
import { FIRST_ENDPOINTS, PAUSED_KINDS } from './endpoints.ts'
import { readHooks } from './hooks-read.ts'
import type { Merchant } from './merchant.ts'
import { DOOMED } from './sanctions.ts'
import { TEMPLATE } from './templates.ts'

const FIRST_FUNDING = 1_000_000

/** Creates what a merchant needs: endpoints, a template, destinations and a card. */
export async function settleIn(merchant: Merchant): Promise<void> {
  const { live, sandbox, known, hosts, name } = merchant
  for (const { environment, kind, content } of FIRST_ENDPOINTS) {
    const given = { url: `https://${environment}.${hosts[kind]}/`, enabled_events: ['*'], ...content }
    const { id, secret } = must(
      await merchant[environment].post('/v1/webhook-endpoints', given),
      201,
      'an endpoint',
    )
    merchant.secrets.set(id, secret)
    merchant.endpoints.set(`${environment}.${kind}`, id)
    if (PAUSED_KINDS.includes(kind)) merchant.pauses.add(id)
  }
  await merchant.streams[0]!.during(() => merchant.wait(1000))
  known.template = must(await live.post('/v1/pass_templates', TEMPLATE), 201, 'a template').id
  const add = async (client: Client, content: object) => {
    const given = { ...content, holder_name: BANK_ACCOUNT.holder_name }
    const body = must(await client.post('/v1/payout_destinations', given), 201, 'a destination')
    const environment = client === live ? 'live' : 'sandbox'
    merchant.destinations.set(body.id, { environment, body })
    if (body.default) setDefault(merchant, environment, body.id)
    return body.id
  }
  const bank = async () => {
    const order = { type: 'bank_account', bank_account: BANK_ACCOUNT }
    const token = must(await live.post('/v1/tokens', order), 201, 'a token')
    return add(live, { type: 'bank_account', token_id: token.id })
  }
  known.bank = await bank()
  known.spare = await bank()
  const wallet = (owner: string) => add(sandbox, { type: 'usdc_address', address: accountOf(owner) })
  known.usdc = await wallet(name)
  known.doomed = await wallet(`${name}${DOOMED}`)
  known.moved = await wallet(`${name} moved`)
  known.misspelt = await wallet(`${name} misspelt`)
  // Nobody can say before what it answers.
  if (!merchant.isExact) {
    const authorizer = { url: `https://${AUTHORIZER_PREFIX}${name}.invalid/`, timeout_ms: 300, ...STAND_IN }
    must(
      await sandbox.send('PUT', '/v1/authorization_endpoint', authorizer),
      200,
      'an authorization endpoint',
    )
  }
  const holder = must(await sandbox.post('/v1/cardholders', { name: 'Ada Moreau' }), 201, 'a cardholder')
  const card = { cardholder_id: holder.id, type: 'virtual' }
  known.card = must(await sandbox.post('/v1/cards', card), 201, 'a card').id
  must(await sandbox.post('/v1/test/funding', { amount: FIRST_FUNDING }, merchant.oldKey), 200, 'funding')
  merchant.funded = FIRST_FUNDING
}

/** Ages of two requests at the end of the hold, around the 24 hours for which answers are stored. */
export const KEY_AGES_MS = { forgotten: 24.5 * 3_600_000, kept: 23.5 * 3_600_000 }

const EVE = { amount: 11 }

/** Sends requests on the day before the first one. */
export async function sendOnTheEve(merchant: Merchant, key: string): Promise<void> {
  must(await merchant.sandbox.post('/v1/test/funding', EVE, key), 200, 'funding on the eve')
  merchant.funded += EVE.amount
}

/** Repeats them: an answer is stored for 24 hours, and a request takes effect again after that. */
export async function repeatEve(merchant: Merchant, forgotten: string, kept: string): Promise<void> {
  const send = async (key: string) => {
    const { status, headers } = await merchant.sandbox.post('/v1/test/funding', EVE, key)
    return [status, headers['idempotency-replayed'] ?? null]
  }
  mustEqual(await send(kept), [200, 'true'], 'the answer to a request of 23.5 hours ago')
  const again = await send(forgotten)
  if (merchant.isExact) mustEqual(again, [200, null], 'the answer to a request of 24.5 hours ago')
  merchant.funded += EVE.amount
}

/** Time in which a stream sends everything that happened since it was closed. */
const CAUGHT_UP_MS = 3000

/** Reads what the checks at the end of the day compare. */
export async function readState(merchant: Merchant): Promise<void> {
  const { live, sandbox } = merchant
  const read = async (client: Client) => must(await client.send('GET', '/v1/balance'), 200, 'the balance')
  await readSettlements(merchant)
  await merchant.streams[0]!.during(() => merchant.wait(CAUGHT_UP_MS))
  merchant.balances = { live: await read(live), sandbox: await read(sandbox) }
  const shown: { readonly id: string; readonly points: unknown }[] = []
  for (const id of merchant.passes) {
    const pass = must(await live.send('GET', `/v1/passes/${id}`), 200, 'a pass')
    shown.push({ id, points: pass.fields.points })
  }
  merchant.shown = shown
  merchant.shownPayouts = (await walk(live, '/v1/payouts')) as unknown as Merchant['shownPayouts']
  merchant.money = await readMoney(merchant)
  merchant.hooksRead = await readHooks(merchant)
  const ids = async (path: string) => (await walk(live, path)).map(({ id }) => id)
  const entries = async (client: Client, account: string) =>
    (await walk(client, `/v1/balance_entries?account=${account}`)).map(
      ({ id, amount, balance, sequence, source_id: source }) => ({ id, amount, balance, sequence, source }),
    )
  merchant.lists = {
    events: await ids('/v1/events'),
    paid: await ids('/v1/events?type=payout.paid'),
    payable: await entries(live, 'settlement_payable'),
    funds: await entries(sandbox, 'program_funds'),
  }
}
