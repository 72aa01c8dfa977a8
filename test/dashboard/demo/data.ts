/** What a small merchant's sandbox has after a month: customers, passes, cards, transactions, money, and webhooks. */
import type { Send } from '../../support/service.ts'
import { drawIcon, drawStrip } from './pictures.ts'

export interface DemoOptions {
  /** Days over which the data is spread. */
  readonly days: number
  /** Advances the service time of the sandbox by one day. */
  nextDay(): Promise<void>
  /** Origin of a server that receives webhooks. It answers `/ledger` with an error now and then. */
  readonly receiver: string
}

const CUSTOMERS = [
  'Amelia Brooks',
  'Noah Fischer',
  'Priya Raman',
  'Lucas Almeida',
  'Sofia Rossi',
  'Ethan Walsh',
  'Mei Tanaka',
  'Omar Haddad',
  'Chloe Martin',
  'Jonas Berg',
  'Isla Campbell',
  'Mateo Vargas',
  'Hannah Weiss',
  'Samuel Osei',
  'Nora Lindqvist',
  'Tariq Aziz',
  'Grace Kim',
  'Felix Novak',
  'Leila Farouk',
  'Daniel Reyes',
]

const HOLDERS = ['Ada Moreau', 'Ben Okafor', 'Carla Nunes', 'David Kim', 'Elena Petrova', 'Finn Gallagher']

const MERCHANTS = [
  ['Harbor Grocer', '5411', 'Oakland', 8420],
  ['Bluebird Roasters', '5812', 'San Francisco', 4650],
  ['Pacific Air', '4511', 'San Francisco', 38_900],
  ['Northside Hardware', '5251', 'Berkeley', 12_480],
  ['Cloudline Hosting', '4816', 'Seattle', 24_000],
  ['Metro Fuel', '5541', 'Oakland', 6120],
  ['Golden Gate Hotel', '7011', 'San Francisco', 21_900],
  ['Paper & Pine', '5943', 'Portland', 3275],
  ['Daily Bread Bakery', '5462', 'Oakland', 1890],
  ['Swift Couriers', '4215', 'San Jose', 5500],
] as const

const TRANSACTIONS = 80

/** Declines for reasons that no rule of the demo cards gives. */
const DECLINES = ['insufficient_funds', 'incorrect_cvc', 'suspected_fraud', 'merchant_country_blocked']

const ADDRESS = {
  line1: '500 Harbor Street',
  city: 'Oakland',
  state: 'CA',
  postal_code: '94607',
  country: 'US',
}

/** Makes the data through the API and its simulators. @param send speaks with a secret key of scope admin in the sandbox. */
export async function fillDemo(send: Send, options: DemoOptions): Promise<void> {
  const make = makerOf(send)
  await make('/v1/test/funding', { amount: 5_000_000 })
  await addEndpoints(make, options.receiver)
  const templates = await addTemplates(make)
  const cards = await addCards(make)
  const destination = await addDestination(make)
  const passes: string[] = []
  const used: string[] = []
  for (let day = 0; day <= options.days; day += 1) {
    if (day > 0) await options.nextDay()
    const isLast = day === options.days
    const until = (total: number) => Math.ceil((total * (day + 1)) / (options.days + 1))
    while (passes.length < until(CUSTOMERS.length * 2))
      passes.push(await addPass(make, send, templates, passes.length))
    while (used.length < until(TRANSACTIONS)) used.push(await spend(make, cards, used.length, isLast))
    if (day === Math.ceil(options.days / 2)) await dispute(make, send)
    await payOut(make, send, destination, options.days - day)
  }
  await make('/v1/test/cardholders/simulate_sanctions_match', {
    cardholder_id: cards[8]!.cardholder_id,
    score: 0.87,
  })
  await send(`/v1/cards/${cards[3]!.id}/freeze`, { body: {} })
  await meetErrors(send)
}

// biome-ignore lint/suspicious/noExplicitAny: what it is depends on the path
type Make = (path: string, body: object) => Promise<any>

function makerOf(send: Send): Make {
  return async (path, body) => {
    const answer = await send(path, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }
}

async function addEndpoints(make: Make, receiver: string): Promise<void> {
  const add = (path: string, description: string, ...enabled_events: string[]) =>
    make('/v1/webhook-endpoints', { url: `${receiver}${path}`, description, enabled_events })
  await add('/orders', 'Order service', '*')
  await add(
    '/ledger',
    'Accounting',
    'card.transaction.cleared',
    'card.transaction.refunded',
    'settlement.settled',
  )
  await add('/crm', 'Customer mail', 'pass.created', 'pass.installed', 'pass.uninstalled')
}

async function addTemplates(make: Make): Promise<readonly string[]> {
  const coffee = await make('/v1/pass_templates', {
    name: 'Harbor Coffee loyalty',
    kind: 'loyalty',
    brand: {
      background_color: '#173B3F',
      foreground_color: '#FFFFFF',
      label_color: '#BFE3DA',
      logo_text: 'Harbor Coffee',
      icon: drawIcon(87, [23, 59, 63], [191, 227, 218]),
      logo: drawIcon(150, [23, 59, 63], [191, 227, 218]),
      strip: drawStrip([23, 59, 63], [88, 160, 148]),
    },
    fields: [
      { key: 'points', label: 'Points', value: '0' },
      { key: 'tier', label: 'Tier', value: 'Basic' },
    ],
    barcode: { format: 'qr' },
  })
  const gift = await make('/v1/pass_templates', {
    name: 'Gift card',
    kind: 'gift_card',
    brand: {
      background_color: '#5B1F3A',
      foreground_color: '#FFFFFF',
      label_color: '#F3C7D6',
      logo_text: 'Harbor Coffee',
      icon: drawIcon(87, [91, 31, 58], [243, 199, 214]),
      strip: drawStrip([91, 31, 58], [201, 96, 132]),
    },
    fields: [{ key: 'balance', label: 'Balance', value: '$25.00' }],
    barcode: { format: 'pdf417' },
  })
  return [coffee.id, gift.id]
}

/** Issues a pass. Most are installed, some are scanned, and a few are removed or revoked. */
async function addPass(
  make: Make,
  send: Send,
  [coffee, gift]: readonly string[],
  index: number,
): Promise<string> {
  const name = CUSTOMERS[index % CUSTOMERS.length]!
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const isGift = index % 3 === 2
  const { id } = await make('/v1/passes', {
    template_id: isGift ? gift : coffee,
    holder: { name, email },
    ...(!isGift && { fields: { points: String(index * 15), tier: index % 5 === 0 ? 'Gold' : 'Basic' } }),
  })
  const platform = index % 2 === 0 ? 'apple' : 'google'
  if (index % 4 !== 3) await make('/v1/test/passes/simulate_install', { pass_id: id, platform })
  if (index % 5 === 0)
    await make('/v1/test/passes/simulate_scan', { pass_id: id, mode: 'verify', scanner: 'Counter 1' })
  if (index % 8 === 1) await make('/v1/test/passes/simulate_uninstall', { pass_id: id, platform })
  if (index % 4 === 0 && !isGift)
    await send(`/v1/passes/${id}`, { method: 'PATCH', body: { fields: { points: String(index * 15 + 40) } } })
  if (index === 22) await make(`/v1/passes/${id}/revoke`, {})
  return id
}

interface DemoCard {
  readonly id: string
  readonly cardholder_id: string
}

async function addCards(make: Make): Promise<readonly DemoCard[]> {
  const program = await make('/v1/card_programs', {
    name: 'Team cards',
    kind: 'both',
    design: { background_color: '#1B2340', foreground_color: '#FFFFFF', text: 'Harbor Coffee' },
    spending_controls: {
      blocked_categories: ['7995'],
      spending_limits: [{ amount: 300_000, interval: 'monthly' }],
    },
  })
  const cards: DemoCard[] = []
  for (const [index, name] of HOLDERS.entries()) {
    const email = `${name.toLowerCase().replaceAll(' ', '.')}@harbor.example`
    const holder = await make('/v1/cardholders', { name, email, billing_address: ADDRESS })
    const common = { cardholder_id: holder.id, card_program_id: program.id }
    cards.push(
      await make('/v1/cards', {
        ...common,
        type: 'virtual',
        spending_controls: {
          spending_limits: [
            { amount: 60_000, interval: 'daily' },
            { amount: 150_000 + index * 10_000, interval: 'monthly' },
            { amount: 40_000, interval: 'monthly', categories: ['5812'] },
          ],
        },
      }),
      await make('/v1/cards', {
        ...common,
        ...(index === 1
          ? { type: 'physical', shipping: { address: ADDRESS, service: 'standard' } }
          : { type: 'virtual' }),
      }),
    )
  }
  return cards
}

/** Uses a card. Purchases are cleared, except the last ones; a few are refunded, reversed, or declined. */
async function spend(
  make: Make,
  cards: readonly DemoCard[],
  index: number,
  isLast: boolean,
): Promise<string> {
  const [name, category_code, city, price] = MERCHANTS[(index * 7) % MERCHANTS.length]!
  const { id: card_id } = cards[(index * 5) % cards.length]!
  const merchant = { name, category_code, city, country: 'US' }
  const amount = price + ((index * 137) % 900)
  if (index % 9 === 4) {
    const reason = DECLINES[index % DECLINES.length]
    return (await make('/v1/test/cards/simulate_decline', { card_id, amount, merchant, reason })).id
  }
  const entry_method = index % 2 === 0 ? 'contactless' : 'online'
  const use = { card_id, amount: index % 20 === 11 ? 75_000 : amount, merchant, entry_method }
  const { id, status } = await make('/v1/test/cards/simulate_authorization', use)
  if (status !== 'authorized' || (isLast && index % 2 === 1)) return id
  if (index % 13 === 6) {
    await make('/v1/test/cards/simulate_reversal', { card_transaction_id: id })
    return id
  }
  await make('/v1/test/cards/simulate_clearing', { card_transaction_id: id, final: true })
  if (index % 16 === 3)
    await make('/v1/test/cards/simulate_refund', { card_transaction_id: id, amount: 1200 })
  return id
}

/** Disputes three cleared transactions: one is won, one is under review, and one is not submitted yet. */
async function dispute(make: Make, send: Send): Promise<void> {
  const { body } = await send('/v1/card_transactions?status=cleared&limit=3')
  const cleared: readonly string[] = body.data.map(({ id }: { readonly id: string }) => id)
  const reasons = ['not_received', 'duplicate', 'fraudulent']
  for (const [index, card_transaction_id] of cleared.entries()) {
    const explanation = 'The cardholder wrote to the merchant twice and got no answer.'
    const { id } = await make('/v1/disputes', {
      card_transaction_id,
      reason: reasons[index],
      evidence: { explanation },
    })
    if (index === 2) continue
    await make(`/v1/disputes/${id}/submit`, {})
    await make('/v1/test/disputes/simulate_outcome', {
      dispute_id: id,
      outcome: index === 0 ? 'won' : 'under_review',
    })
  }
}

/** Adds an address on the chain of the sandbox, which has no bank accounts. */
async function addDestination(make: Make): Promise<string> {
  const destination = await make('/v1/payout_destinations', {
    type: 'usdc_address',
    address: 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7',
    holder_name: 'Harbor Coffee LLC',
    default: true,
  })
  return destination.id
}

/** Settlements are paid out by themselves for three weeks, and then by hand: one payout fails, and one is under way. */
async function payOut(make: Make, send: Send, destination_id: string, daysLeft: number): Promise<void> {
  if (daysLeft === 8)
    await send(`/v1/payout_destinations/${destination_id}`, { method: 'PATCH', body: { default: false } })
  if (daysLeft !== 2 && daysLeft !== 0) return
  const { payable } = (await send('/v1/balance')).body
  const amount = Math.floor(payable / 3)
  if (amount === 0) return
  const { id } = await make('/v1/payouts', { amount, currency: 'usdc', destination_id })
  if (daysLeft === 2)
    await make('/v1/test/payouts/simulate_failure', { payout_id: id, failure_code: 'network_error' })
}

/** Requests that an integration gets wrong, and one in an earlier version. */
async function meetErrors(send: Send): Promise<void> {
  await send('/v1/passes/pass_00000000000000000000000000')
  await send('/v1/cards', { body: { cardholder_id: 'chd_00000000000000000000000000', type: 'virtual' } })
  await send('/v1/payouts', { body: { amount: -5 } })
  await send('/v1/card_transactions?limit=500')
  await send('/v1/disputes', { headers: { 'Service-Version': '2026-02-01' } })
}
