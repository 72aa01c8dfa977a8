/** What a merchant tries in a named sandbox: amounts up to the largest, which its balance and its settlements can reach. */
import { mustEqual } from '../checks/must.ts'
import type { Answer, Client } from '../client.ts'
import type { Merchant } from '../merchant.ts'
import { type Actions, must } from './action.ts'

const MOST = 1_000_000_000_000_000

/** An account has at most this many named sandboxes. */
const SANDBOXES = 10

function mustExceed({ status, body }: Answer, issue: string, what: string): void {
  const [detail] = body.error?.details ?? []
  mustEqual(
    [status, body.error?.code, detail?.field, detail?.issue.includes(issue)],
    [422, 'validation_failed', 'amount', true],
    what,
  )
}

/** Creates a named sandbox, if the account can have one more, and returns its client. */
async function openSandbox(merchant: Merchant): Promise<Client | undefined> {
  if (!merchant.isExact || merchant.sandboxes === SANDBOXES) return undefined
  merchant.sandboxes += 1
  const made = await merchant.sandbox.post('/v1/sandboxes', { name: `Limits ${merchant.sandboxes}` })
  return merchant.open(must(made, 201, 'a sandbox').secret_key)
}

/** Clearings without an authorization take a balance to the lowest one. */
async function tryDebts(merchant: Merchant): Promise<void> {
  const client = await openSandbox(merchant)
  if (!client) return
  const { force } = await cardOf(client)
  must(await force(MOST), 201, 'a clearing down to the lowest balance')
  mustEqual(must(await client.send('GET', '/v1/balance'), 200, 'the balance').available, 0 - MOST, 'a debt')
  mustExceed(await force(1), "the day's settlement", 'a clearing beyond the total of a settlement')
  must(await client.post('/v1/test/settlements/advance_clock', { seconds: 90_000 }), 200, 'an advance')
  mustExceed(await force(1), 'would take the balance beyond', 'a clearing beyond the lowest balance')
}

async function tryLimits(merchant: Merchant): Promise<void> {
  const client = await openSandbox(merchant)
  if (!client) return
  const balance = async (available: number, what: string) => {
    const body = must(await client.send('GET', '/v1/balance'), 200, 'the balance of a named sandbox')
    mustEqual([body.available, body.held], [available, 0], `the balance of a named sandbox after ${what}`)
  }
  await balance(0, 'its creation')
  const fund = (amount: number) => client.post('/v1/test/funding', { amount })
  mustEqual(must(await fund(MOST - 1), 200, 'funding').available, MOST - 1, 'a large balance')
  mustExceed(await fund(2), 'would raise the balance above the maximum', 'funding above the largest balance')
  must(await fund(1), 200, 'funding up to the largest balance')
  mustExceed(await fund(1), 'would raise the balance above the maximum', 'funding above the largest balance')
  await balance(MOST, 'funding')
  const { authorize, clear } = await cardOf(client)
  const held = await authorize(1)
  const first = await authorize(MOST - 1)
  must(await clear(first), 200, 'the clearing of a large amount')
  must(await fund(MOST - 1), 200, 'funding after a clearing')
  must(await clear(await authorize(1)), 200, 'a clearing up to the largest total of a settlement')
  must(await fund(1), 200, 'funding up to the largest balance')
  const second = await authorize(1)
  mustExceed(await clear(second), 'beyond the maximum', 'a clearing beyond the total of a settlement')
  const clock = await client.post('/v1/test/settlements/advance_clock', { seconds: 86_400 })
  must(clock, 200, 'an advance of the clock')
  must(await clear(second), 200, 'a clearing on the next day')
  const refund = { card_transaction_id: first, amount: MOST - 1 }
  const refunded = await client.post('/v1/test/cards/simulate_refund', refund)
  mustExceed(refunded, 'beyond the maximum', 'a refund beyond the largest balance')
  const small = { card_transaction_id: first, amount: 1 }
  must(await client.post('/v1/test/cards/simulate_refund', small), 200, 'a refund up to the largest balance')
  must(await clear(await authorize(1)), 200, 'a clearing after a refund')
  await expires(client, held, async () => must(await clear(await authorize(1)), 200, 'a late clearing'))
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** A hold ends after seven days, in its turn among the moves of a settlement, although the clock jumps over all of them. */
async function expires(client: Client, held: string, clearLater: () => Promise<unknown>): Promise<void> {
  const advance = (seconds: number) => client.post('/v1/test/settlements/advance_clock', { seconds })
  const read = async () =>
    must(await client.send('GET', `/v1/card_transactions/${held}`), 200, 'a transaction')
  const isHeld = async () => (await read()).amounts.held
  const { now } = must(await advance(6 * 86_400 - 600), 200, 'an advance of the clock by six days')
  mustEqual(await isHeld(), 1, 'what is held for almost seven days')
  await clearLater()
  must(await advance(31_536_000), 200, 'an advance of the clock by a year')
  mustEqual(await isHeld(), 0, 'what is held after seven days')
  const { data } = must(await client.send('GET', '/v1/events?limit=4'), 200, 'the events of a named sandbox')
  const midnight = Math.ceil(Date.parse(now) / DAY_MS) * DAY_MS
  const times: readonly (readonly [at: number, type: string])[] = [
    [Date.parse((await read()).created) + 7 * DAY_MS, 'card.transaction.expired'],
    [midnight, 'settlement.pending'],
    [midnight + HOUR_MS, 'settlement.processing'],
    [midnight + 2 * HOUR_MS, 'settlement.settled'],
  ]
  mustEqual(
    data.map(({ type }: { type: string }) => type),
    times.toSorted(([a], [b]) => b - a).map(([, type]) => type),
    'the events of an advance by a year, newest first',
  )
  const { status, body } = await advance(31_536_000)
  mustEqual([status, body.data], [200, []], 'an advance of a clock that nothing waits for')
}

/** Creates a card, and returns what it can do. */
async function cardOf(client: Client) {
  const holder = must(await client.post('/v1/cardholders', { name: 'Ada Moreau' }), 201, 'a cardholder')
  const card = must(
    await client.post('/v1/cards', { cardholder_id: holder.id, type: 'virtual' }),
    201,
    'a card of a named sandbox',
  )
  const seller = { name: 'Harbor Diner', category_code: '5812' }
  return {
    async authorize(amount: number): Promise<string> {
      const order = { card_id: card.id, amount, merchant: seller }
      const body = must(
        await client.post('/v1/test/cards/simulate_authorization', order),
        201,
        'an authorization',
      )
      mustEqual(body.status, 'authorized', `an authorization of ${amount} in a named sandbox`)
      return body.id
    },
    force: (amount: number) =>
      client.post('/v1/test/cards/simulate_force_post', { card_id: card.id, amount, merchant: seller }),
    clear: (id: string) => client.post('/v1/test/cards/simulate_clearing', { card_transaction_id: id }),
  }
}

/** Sets the threshold of its balance, in turn above and below it, and turns it off. */
async function setAlert(merchant: Merchant, { pick }: { readonly pick: number }): Promise<void> {
  const { sandbox, isExact } = merchant
  const { available } = must(await sandbox.send('GET', '/v1/balance'), 200, 'the balance')
  const chosen = [available, available + 1, null, available + 50_000, available - 50][pick % 5]!
  const threshold = chosen === null ? null : Math.max(0, chosen)
  const alert = must(await sandbox.send('PUT', '/v1/balance_alert', { threshold }), 200, 'an alert')
  const again = must(await sandbox.send('GET', '/v1/balance_alert'), 200, 'the alert')
  if (!isExact) return
  mustEqual(again, alert, 'the alert, as it was read')
  const isSame = merchant.threshold === threshold
  const status = threshold === null ? 'off' : isSame && alert.status === 'low' ? 'low' : 'armed'
  mustEqual(
    alert,
    { object: 'balance_alert', threshold, status, available, currency: 'usd' },
    'an alert of a low balance',
  )
  merchant.threshold = threshold
}

export const LIMIT_ACTIONS: Actions = {
  limits: { times: 1, act: tryLimits },
  debts: { times: 1, act: tryDebts },
  balance_alert: { times: 2, act: setAlert },
}
