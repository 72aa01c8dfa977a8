/** What simulated merchants do in a day, and what they know of it afterwards. */
import type { Random } from '../../runtime/platform/random.ts'
import {
  authorized,
  balanceIsKnown,
  moveClock,
  readSettlements,
  refundOf,
  STEPS,
  stepped,
  walk,
} from './actions/cards.ts'
import { recover, retryByHand, sendTest } from './actions/hooks.ts'
import { double, repeatOld, reuseKey, useOldKey } from './actions/keys.ts'
import { passMade } from './actions/passes.ts'
import { AUTHORIZER_PREFIX, STAND_IN } from './authorizations/authorizers.ts'
import { accountOf } from './chain/node.ts'
import { mustEqual } from './checks/evidence.ts'
import type { Answer, Client } from './client.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import type { Merchant } from './merchant.ts'

/** One action of a merchant: when in the day, and which. `pick` chooses among what there is. */
export interface Action {
  readonly atMs: number
  readonly kind: ActionKind
  readonly amount: number
  readonly pick: number
}

const KINDS = [
  'pass',
  'pass',
  'update_pass',
  'update_pass',
  'bank_payout',
  'bank_payout',
  'cancel_payout',
  'authorize',
  'authorize',
  'clear',
  'clear',
  'refund',
  'reverse',
  'fund',
  'reuse_key',
  'double',
  'old_key',
  'repeat_old',
  'retry',
  'recover',
  'test_endpoint',
  'expire',
  'clock',
  'usdc_payout',
  'usdc_payout',
  'cancel_usdc_payout',
  'install_pass',
  'install_pass',
  'remove_pass',
] as const
export type ActionKind = (typeof KINDS)[number]

/** Actions end this long after midnight, so that everything has come to rest at the end of the day. */
export const BUSY_MS = 15 * 3_600_000

export function planDay(random: Random, count: number): readonly Action[] {
  const actions = Array.from({ length: count }, (): Action => {
    // Most come in bursts, as if by many clients at once.
    const burst = random.between(0, 5) * (BUSY_MS / 6)
    return {
      atMs: burst + random.between(0, random.chance(0.8) ? 1000 : 60_000),
      kind: random.pick(KINDS),
      amount: random.between(1, 40) * 25,
      pick: random.between(0, 1000),
    }
  })
  return actions.toSorted((a, b) => a.atMs - b.atMs)
}

const MERCHANT = { name: 'Harbor Diner', category_code: '5812' }

function must({ status, body }: Answer, wanted: number, what: string): Answer['body'] {
  if (status !== wanted) throw new Error(`${what} was answered ${status}: ${JSON.stringify(body)}`)
  return body
}

/** How far back a merchant recovers events. */
const RECOVERED_MS = 6 * 3_600_000

const FIRST_FUNDING = 1_000_000

const BANK_ACCOUNT = {
  holder_name: 'Harbour Coffee LLC',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

const PAYOUT_EVENTS = ['payout.created', 'payout.updated', 'payout.paid', 'payout.failed', 'payout.canceled']

const TEMPLATE = {
  name: 'Coffee loyalty',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
}

/** Creates what a merchant needs: endpoints, a template, destinations and a card. */
export async function settleIn(merchant: Merchant): Promise<void> {
  const { live, sandbox, known, hosts, name } = merchant
  for (const client of [live, sandbox]) {
    const prefix = client === live ? 'live' : 'sandbox'
    const hook = async (host: string, content: object) => {
      const given = { url: `https://${prefix}.${host}/`, enabled_events: ['*'], ...content }
      const { id, secret } = must(await client.post('/v1/webhook-endpoints', given), 201, 'an endpoint')
      merchant.secrets.set(id, secret)
      return id
    }
    await hook(hosts.plain, {})
    await hook(hosts.ordered, { delivery: 'fifo' })
    if (client === sandbox) continue
    known.flaky = await hook(hosts.flaky, { enabled_events: PAYOUT_EVENTS })
    await hook(hosts.keyed, { enabled_events: PAYOUT_EVENTS, delivery: 'fifo', fifo_key: 'object' })
    known.broken = await hook(hosts.broken, { enabled_events: ['pass.created'] })
    merchant.pauses.add(known.broken)
  }
  known.template = must(await live.post('/v1/pass_templates', TEMPLATE), 201, 'a template').id
  const token = must(
    await live.post('/v1/tokens', { type: 'bank_account', bank_account: BANK_ACCOUNT }),
    201,
    'a token',
  )
  const destination = { type: 'bank_account', token_id: token.id, holder_name: BANK_ACCOUNT.holder_name }
  known.bank = must(await live.post('/v1/payout_destinations', destination), 201, 'a destination').id
  const usdc = { type: 'usdc_address', address: accountOf(name), holder_name: BANK_ACCOUNT.holder_name }
  known.usdc = must(await sandbox.post('/v1/payout_destinations', usdc), 201, 'a USDC destination').id
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

/** Does one action. An answer in the range of 4xx is a fact of business, such as a balance that is too low. */
async function act(merchant: Merchant, action: Action): Promise<void> {
  const { kind, amount, pick } = action
  const { live, sandbox, known, payouts, transfers, passes, files, devices, transactions, changes } = merchant
  const one = (list: readonly string[]) => list[pick % Math.max(1, list.length)]
  const payout = one([...payouts.keys()])
  const pass = one(passes)
  const transaction = one(transactions)
  const simulate = (what: string, content: object) => sandbox.post(`/v1/test/cards/simulate_${what}`, content)
  const step = async (what: string, become: Parameters<typeof stepped>[2]['step'], content: object = {}) => {
    if (!transaction) return
    const answer = await simulate(what, { card_transaction_id: transaction, ...content })
    stepped(merchant, answer, { id: transaction, kind: what, step: become })
    await balanceIsKnown(merchant)
  }
  switch (kind) {
    case 'pass':
      return passMade(merchant, await live.post('/v1/passes', { template_id: known.template }))
    case 'update_pass':
      if (pass) {
        const fields = { points: String(amount) }
        must(await live.send('PATCH', `/v1/passes/${pass}`, { fields }), 200, 'an update')
      }
      return
    case 'bank_payout': {
      // Some are larger than what is payable.
      const order = {
        amount: pick % 9 === 0 ? amount * 1000 : amount,
        currency: 'usd',
        destination_id: known.bank,
      }
      const { status, body } = await live.post('/v1/payouts', order)
      if (status === 201) {
        payouts.set(body.id, order.amount)
        changes.push({ environment: 'live', type: 'payout.created', body })
      } else mustEqual(body.error.code, 'insufficient_balance', 'the refusal of a payout')
      return
    }
    case 'cancel_payout':
      if (payout) {
        const { status, body } = await live.post(`/v1/payouts/${payout}/cancel`, {})
        if (status === 200) changes.push({ environment: 'live', type: 'payout.canceled', body })
        else mustEqual(body.error.code, 'invalid_state', 'the refusal to cancel a payout')
      }
      return
    case 'authorize': {
      const asked = pick % 7 === 0 ? amount * 1000 : amount
      const made = await simulate('authorization', { card_id: known.card, amount: asked, merchant: MERCHANT })
      must(made, 201, 'an authorization')
      authorized(merchant, made, asked)
      await balanceIsKnown(merchant)
      return
    }
    case 'clear':
      return step('clearing', STEPS.clearing)
    case 'refund':
      return step('refund', refundOf(amount), { amount })
    case 'reverse':
      return step('reversal', STEPS.reversal)
    case 'expire':
      return step('expiry', STEPS.expiry)
    case 'fund':
      must(await sandbox.post('/v1/test/funding', { amount }), 200, 'funding')
      merchant.funded += amount
      return balanceIsKnown(merchant)
    case 'reuse_key':
      return reuseKey(merchant, amount)
    case 'double':
      return double(merchant)
    case 'old_key':
      return useOldKey(merchant)
    case 'repeat_old':
      return repeatOld(merchant)
    case 'retry':
      return retryByHand(merchant, pick)
    case 'recover':
      return recover(merchant, Date.now() - RECOVERED_MS)
    case 'test_endpoint':
      return sendTest(merchant)
    case 'clock':
      await moveClock(merchant, amount * 100)
      return balanceIsKnown(merchant)
    case 'usdc_payout': {
      const order = { amount, currency: 'usdc', destination_id: known.usdc }
      const { status, body } = await sandbox.post('/v1/payouts', order)
      if (status === 201) transfers.set(body.id, amount)
      return
    }
    case 'cancel_usdc_payout': {
      const transfer = one([...transfers.keys()])
      if (transfer) await sandbox.post(`/v1/payouts/${transfer}/cancel`, {})
      return
    }
    case 'install_pass':
      if (pass) await devices[pick % devices.length]!.install(files.get(pass)!)
      return
    case 'remove_pass':
      await devices[pick % devices.length]!.remove(pick)
      return
  }
}

/** Lives through the actions of a day. Each starts at its time, whether or not earlier ones of others have ended. */
export async function liveDay(
  { sleep }: Pick<Scheduler, 'sleep'>,
  merchant: Merchant,
  actions: readonly Action[],
): Promise<void> {
  let before = Promise.resolve()
  await Promise.all(
    actions.map(async (action) => {
      await sleep(action.atMs)
      if (!merchant.isExact) return act(merchant, action)
      before = before.then(() => act(merchant, action))
      await before
    }),
  )
}

/** Reads what the checks at the end of the day compare. */
export async function readState(merchant: Merchant): Promise<void> {
  const { live, sandbox } = merchant
  const read = async (client: Client) => must(await client.send('GET', '/v1/balance'), 200, 'the balance')
  await readSettlements(merchant)
  merchant.balances = { live: await read(live), sandbox: await read(sandbox) }
  const shown: { readonly id: string; readonly points: unknown }[] = []
  for (const id of merchant.passes) {
    const pass = must(await live.send('GET', `/v1/passes/${id}`), 200, 'a pass')
    shown.push({ id, points: pass.fields.points })
  }
  merchant.shown = shown
  merchant.shownPayouts = (await walk(live, '/v1/payouts')) as unknown as Merchant['shownPayouts']
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
