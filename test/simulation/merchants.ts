/** What simulated merchants do in a day, and what they know of it afterwards. */
import type { Environment } from '../../runtime/platform/environment.ts'
import type { Random } from '../../runtime/platform/random.ts'
import { AUTHORIZER_PREFIX, STAND_IN } from './authorizations/authorizers.ts'
import { accountOf } from './chain/node.ts'
import type { Answer, Client } from './client.ts'
import type { Scheduler } from './scheduler.ts'
import type { Device } from './wallets/devices.ts'

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
  'usdc_payout',
  'usdc_payout',
  'cancel_usdc_payout',
  'install_pass',
  'install_pass',
  'remove_pass',
] as const
export type ActionKind = (typeof KINDS)[number]

export interface Merchant {
  readonly name: string
  readonly tenantId: string
  readonly live: Client
  readonly sandbox: Client
  /** Cents that were made payable in each environment. */
  readonly payable: number
  /** Cents of test money in the sandbox. */
  funded: number
  /** Payouts that were answered 201, with their amounts. */
  readonly payouts: Map<string, number>
  /** USDC payouts in the sandbox that were answered 201, with their amounts. */
  readonly transfers: Map<string, number>
  readonly passes: string[]
  /** URLs of the files of passes. */
  readonly files: Map<string, string>
  readonly devices: readonly Device[]
  readonly transactions: string[]
  readonly known: { template: string; bank: string; usdc: string; card: string }
  readonly hosts: Readonly<Record<'ordered' | 'plain', string>>
  /** Points of each pass, as the service said last. */
  shown: readonly { readonly id: string; readonly points: unknown }[]
  /** What the service said last. */
  balances: Readonly<
    Record<Environment, { readonly payable: number; readonly held: number; readonly available: number }>
  >
}

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

const FIRST_FUNDING = 1_000_000

const BANK_ACCOUNT = {
  holder_name: 'Harbour Coffee LLC',
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

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
    const hook = (host: string, content: object) =>
      client.post('/v1/webhook-endpoints', { url: `https://${host}/`, enabled_events: ['*'], ...content })
    const prefix = client === live ? 'live' : 'sandbox'
    must(await hook(`${prefix}.${hosts.plain}`, {}), 201, 'an endpoint')
    must(await hook(`${prefix}.${hosts.ordered}`, { delivery: 'fifo' }), 201, 'an ordered endpoint')
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
  const authorizer = { url: `https://${AUTHORIZER_PREFIX}${name}.invalid/`, timeout_ms: 300, ...STAND_IN }
  must(await sandbox.send('PUT', '/v1/authorization_endpoint', authorizer), 200, 'an authorization endpoint')
  const holder = must(await sandbox.post('/v1/cardholders', { name: 'Ada Moreau' }), 201, 'a cardholder')
  const card = { cardholder_id: holder.id, type: 'virtual' }
  known.card = must(await sandbox.post('/v1/cards', card), 201, 'a card').id
  must(await sandbox.post('/v1/test/funding', { amount: FIRST_FUNDING }), 200, 'funding')
  merchant.funded = FIRST_FUNDING
}

/** Does one action. An answer in the range of 4xx is a fact of business, such as a balance that is too low. */
async function act(merchant: Merchant, { kind, amount, pick }: Action): Promise<void> {
  const { live, sandbox, known, payouts, transfers, passes, files, devices, transactions } = merchant
  const one = (list: readonly string[]) => list[pick % Math.max(1, list.length)]
  const payout = one([...payouts.keys()])
  const pass = one(passes)
  const transaction = one(transactions)
  const simulate = (what: string, content: object) => sandbox.post(`/v1/test/cards/simulate_${what}`, content)
  switch (kind) {
    case 'pass': {
      const made = await live.post('/v1/passes', { template_id: known.template })
      const { id, download } = must(made, 201, 'a pass')
      passes.push(id)
      files.set(id, download.apple_url)
      return
    }
    case 'update_pass':
      if (pass) {
        const fields = { points: String(amount) }
        must(await live.send('PATCH', `/v1/passes/${pass}`, { fields }), 200, 'an update')
      }
      return
    case 'bank_payout': {
      const order = { amount, currency: 'usd', destination_id: known.bank }
      const { status, body } = await live.post('/v1/payouts', order)
      if (status === 201) payouts.set(body.id, amount)
      return
    }
    case 'cancel_payout':
      if (payout) await live.post(`/v1/payouts/${payout}/cancel`, {})
      return
    case 'authorize': {
      const made = await simulate('authorization', { card_id: known.card, amount, merchant: MERCHANT })
      transactions.push(must(made, 201, 'an authorization').id)
      return
    }
    case 'clear':
      if (transaction) await simulate('clearing', { card_transaction_id: transaction })
      return
    case 'refund':
      if (transaction) await simulate('refund', { card_transaction_id: transaction, amount })
      return
    case 'reverse':
      if (transaction) await simulate('reversal', { card_transaction_id: transaction })
      return
    case 'fund':
      must(await sandbox.post('/v1/test/funding', { amount }), 200, 'funding')
      merchant.funded += amount
      return
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

/** Lives through the actions of a day. Each starts at its time, whether or not earlier ones have ended. */
export async function liveDay(
  { sleep }: Pick<Scheduler, 'sleep'>,
  merchant: Merchant,
  actions: readonly Action[],
): Promise<void> {
  await Promise.all(
    actions.map(async (action) => {
      await sleep(action.atMs)
      await act(merchant, action)
    }),
  )
}

/** Reads what the checks at the end of the day compare. */
export async function readState(merchant: Merchant): Promise<void> {
  const read = async (client: Client) => must(await client.send('GET', '/v1/balance'), 200, 'the balance')
  merchant.balances = { live: await read(merchant.live), sandbox: await read(merchant.sandbox) }
  const shown: { readonly id: string; readonly points: unknown }[] = []
  for (const id of merchant.passes) {
    const pass = must(await merchant.live.send('GET', `/v1/passes/${id}`), 200, 'a pass')
    shown.push({ id, points: pass.fields.points })
  }
  merchant.shown = shown
}
