/** What holds of an account after any sequence of operations, read from the database and from the events. */
import { expect } from 'vitest'
import { findFault } from '../../runtime/money/ledger/verify.ts'
import type { Account, Sent } from './money-account.ts'
import { LIMITS } from './money-model.ts'
import { share } from './treasury-model.ts'

interface Step {
  readonly type: string
  readonly amount: number
}

type Sums = Record<
  'requested' | 'authorized' | 'held' | 'cleared' | 'refunded' | 'reversed' | 'disputed',
  number
>

interface TransactionRow extends Sums {
  readonly id: string
  readonly card_id: string
  readonly status: string
  readonly decision_id: string | null
  readonly history: readonly Step[]
  readonly open: number
  readonly contested: number
}

const rowsOf = async <Row>({ service, tenantId }: Account, text: string): Promise<readonly Row[]> =>
  (await service.database.control.query<Row>({ text }, [tenantId])).rows

/** Properties 1–9 and 12 of the ledger. @param overdrawn whether something may have taken more than was available. */
export async function expectSound(account: Account, overdrawn: boolean): Promise<void> {
  expect(await findFault(account.service.database.control, 'sandbox', account.tenantId)).toBeUndefined()
  const transactions = await expectTransactions(account)
  await expectFunds(account, transactions, overdrawn)
  await expectLines(account, transactions)
  await expectPayouts(account)
}

/** The amounts of a transaction, from what has happened to it alone. */
function replay(history: readonly Step[]): Omit<Sums, 'disputed'> {
  const sums = { requested: 0, authorized: 0, held: 0, cleared: 0, refunded: 0, reversed: 0 }
  for (const { type, amount: moved } of history) {
    if (['authorization', 'increment', 'decline', 'force_post'].includes(type)) sums.requested += moved
    if (type === 'authorization' || type === 'increment') {
      sums.authorized += moved
      sums.held += moved
    }
    if (type === 'reversal' || type === 'expiry' || type === 'release') {
      sums.reversed += moved
      sums.held -= moved
    }
    if (type === 'clearing' || type === 'force_post') {
      sums.cleared += moved
      sums.held -= Math.min(moved, sums.held)
    }
    if (type === 'refund') sums.refunded += moved
  }
  return sums
}

async function expectTransactions(account: Account): Promise<readonly TransactionRow[]> {
  const rows = await rowsOf<TransactionRow>(
    account,
    `SELECT t.*, (SELECT coalesce(sum(h.amount), 0)::bigint FROM sandbox.ledger_holds h
                   WHERE h.tenant_id = $1 AND h.id = t.hold_id AND NOT EXISTS (
                     SELECT FROM sandbox.ledger_resolutions r WHERE r.tenant_id = $1 AND r.hold_id = h.id)) AS open,
            (SELECT coalesce(sum(d.amount), 0)::bigint FROM sandbox.disputes d
              WHERE d.tenant_id = $1 AND d.card_transaction_id = t.id AND d.status IN ('unsubmitted', 'submitted', 'under_review', 'won')) AS contested
       FROM sandbox.card_transactions t WHERE t.tenant_id = $1`,
  )
  for (const row of rows) {
    const { id, requested, authorized, held, cleared, refunded, reversed, history } = row
    const replayed = replay(history)
    expect({ authorized, held, cleared, refunded, reversed }).toEqual({ ...replayed, requested: undefined })
    // An endpoint may have authorized less than was requested.
    const more = row.decision_id === null ? 0 : Math.max(0, requested - replayed.requested)
    expect([id, requested]).toEqual([id, replayed.requested + more])
    expect([id, row.open, row.disputed]).toEqual([id, held, row.contested])
    if (held > 0) expect([id, row.status]).toEqual([id, 'authorized'])
    // An authorization of 0 is open and holds nothing.
    if (row.status === 'authorized') expect([id, held > 0 || requested === 0]).toEqual([id, true])
    expect(refunded + row.disputed).toBeLessThanOrEqual(cleared)
  }
  return rows
}

/** Balance, limits and credits. */
async function expectFunds(
  account: Account,
  transactions: readonly TransactionRow[],
  overdrawn: boolean,
): Promise<void> {
  const [funds] = await rowsOf<{ balance: number; held: number; credited: number; disputes: number }>(
    account,
    `SELECT coalesce(sum(balance) FILTER (WHERE id = 'program_funds'), 0)::bigint AS balance,
            coalesce(sum(held) FILTER (WHERE id = 'program_funds'), 0)::bigint AS held,
            -coalesce(sum(balance) FILTER (WHERE id = 'dispute_receivable'), 0)::bigint AS credited,
            (SELECT coalesce(sum(provisional_credit), 0)::bigint FROM sandbox.disputes WHERE tenant_id = $1) AS disputes
       FROM sandbox.ledger_accounts WHERE tenant_id = $1`,
  )
  expect(funds!.credited).toBe(funds!.disputes)
  if (!overdrawn) expect(funds!.balance - funds!.held).toBeGreaterThanOrEqual(0)
  const spent = await rowsOf<{ card_id: string; amount: number; granularity: string }>(
    account,
    `SELECT card_id, granularity, sum(amount)::bigint AS amount FROM sandbox.card_spending WHERE tenant_id = $1 GROUP BY 1, 2`,
  )
  for (const [index, id] of account.cards.entries()) {
    const own = transactions.filter(({ card_id }) => card_id === id)
    const sum = own.reduce((total, { held, cleared }) => total + held + cleared, 0)
    for (const each of spent.filter(({ card_id }) => card_id === id))
      expect([id, each.amount]).toEqual([id, sum])
    if (!overdrawn) expect(sum).toBeLessThanOrEqual(LIMITS[index] ?? Number.POSITIVE_INFINITY)
  }
}

/** Lines make their settlement, each is of what it says and came before the cut-off, and what happened has its lines once. */
async function expectLines(account: Account, transactions: readonly TransactionRow[]): Promise<void> {
  const wrong = await rowsOf(
    account,
    `SELECT s.id, s.status, s.net_amount, l.* FROM sandbox.settlements s LEFT JOIN LATERAL (
       SELECT coalesce(sum(l.amount), 0) AS net, count(*) AS lines,
              coalesce(sum(l.amount) FILTER (WHERE l.type IN ('card_transaction', 'card_refund')), 0) AS transactions,
              coalesce(sum(l.amount) FILTER (WHERE l.type = 'interchange'), 0) AS interchange,
              coalesce(-sum(l.amount) FILTER (WHERE l.type = 'network_fee'), 0) AS fees,
              coalesce(bool_and(l.created >= s.period_start AND l.created < s.period_end), true) AS timely
         FROM sandbox.settlement_lines l WHERE l.tenant_id = $1 AND l.settlement_id = s.id) l ON true
      WHERE s.tenant_id = $1 AND ((s.net_amount, s.lines_count, s.transaction_amount, s.interchange_amount, s.fees_amount, true)
            IS DISTINCT FROM (l.net, l.lines, l.transactions, l.interchange, l.fees, l.timely)
         OR EXISTS (SELECT FROM sandbox.settlements o WHERE o.tenant_id = $1 AND o.id <> s.id
                       AND o.period_start < s.period_end AND s.period_start < o.period_end))`,
  )
  expect(wrong).toEqual([])
  const lines = await rowsOf<{ type: string; source_id: string; ledger_entry_id: string; amount: number }>(
    account,
    'SELECT type, source_id, ledger_entry_id, amount FROM sandbox.settlement_lines WHERE tenant_id = $1',
  )
  const of = (type: string, id: string) =>
    lines.filter((line) => line.type === type && line.source_id === id).map(({ amount }) => amount)
  const sorted = (amounts: readonly number[]) => amounts.toSorted((a, b) => a - b)
  for (const { id, history } of transactions) {
    const steps = (...types: string[]) =>
      history.filter(({ type }) => types.includes(type)).map(({ amount }) => amount)
    const cleared = steps('clearing', 'force_post')
    const funding = [...cleared, ...steps('refund').map((amount) => -amount)]
    expect([id, sorted(of('card_transaction', id))]).toEqual([id, sorted(cleared.map((amount) => -amount))])
    expect([id, sorted(of('card_refund', id))]).toEqual([id, sorted(steps('refund'))])
    expect([id, sorted(of('program_funding', id))]).toEqual([id, sorted(funding)])
    expectInterchange(id, cleared, steps('refund'), of('interchange', id))
  }
  const disputes = await rowsOf<{ id: string; amount: number; status: string; submitted: boolean }>(
    account,
    'SELECT id, amount, status, submitted_at IS NOT NULL AS submitted FROM sandbox.disputes WHERE tenant_id = $1',
  )
  for (const { id, amount, status, submitted } of disputes) {
    const isReversed = status === 'lost' || status === 'withdrawn'
    const [given, taken] = [of('dispute', id), of('dispute_reversal', id)]
    const left = [...given, ...taken].reduce((sum, each) => sum + each, 0)
    expect([id, given.length, left]).toEqual([id, submitted ? 1 : 0, submitted && !isReversed ? amount : 0])
    expect(taken.filter((each) => each >= 0)).toEqual([])
  }
}

/** Interchange of what was cleared, less the part that was refunded: all of it where all was. */
function expectInterchange(
  id: string,
  cleared: readonly number[],
  refunded: readonly number[],
  lines: readonly number[],
): void {
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
  const earned = sum(cleared.map((amount) => share(amount, 150)))
  const returned = cleared.length === 0 ? 0 : share(earned, sum(refunded), sum(cleared))
  expect([id, sum(lines)]).toEqual([id, earned - returned])
}

/** What settled is payable or in payouts, each where the ledger has it; a settlement is paid once. */
async function expectPayouts(account: Account): Promise<void> {
  const [books] = await rowsOf<Record<string, number>>(
    account,
    `SELECT sum(CASE WHEN status = 'settled' THEN greatest(net_amount, 0) ELSE 0 END)::bigint AS settled,
            sum(CASE WHEN status = 'settled' THEN interchange_amount ELSE 0 END)::bigint AS interchange,
            sum(CASE WHEN status = 'settled' THEN fees_amount ELSE 0 END)::bigint AS fees,
            (SELECT coalesce(sum(e.amount), 0)::bigint FROM sandbox.ledger_entries e
              WHERE e.tenant_id = $1 AND e.account_id = 'program_funds' AND e.cause LIKE 'len\\_%') AS funded
       FROM (SELECT * FROM sandbox.settlements WHERE tenant_id = $1 UNION ALL SELECT (NULL::sandbox.settlements).*) s`,
  )
  const payouts = await rowsOf<{
    status: string
    amount: number
    settlement: string | null
    paid: string | null
    net: number
  }>(
    account,
    `SELECT p.status, p.amount, p.settlement_id AS settlement, s.id AS paid, s.net_amount AS net
       FROM (SELECT * FROM sandbox.payouts WHERE tenant_id = $1) p
       FULL JOIN (SELECT * FROM sandbox.settlements WHERE tenant_id = $1 AND payout_id IS NOT NULL) s ON s.payout_id = p.id`,
  )
  for (const { settlement, paid, amount, net } of payouts) {
    expect(settlement).toBe(paid)
    if (paid !== null) expect(amount).toBe(net)
  }
  const sum = (...statuses: string[]) =>
    payouts.filter(({ status }) => statuses.includes(status)).reduce((total, { amount }) => total + amount, 0)
  const accounts = await rowsOf<{ id: string; balance: number }>(
    account,
    'SELECT id, balance FROM sandbox.ledger_accounts WHERE tenant_id = $1',
  )
  const balanceOf = (name: string) => accounts.find(({ id }) => id === name)?.balance ?? 0
  const expected = {
    settlement_payable: books!.settled! - sum('pending', 'in_transit', 'paid'),
    payout_in_transit: sum('pending', 'in_transit'),
    bank: sum('paid') - books!.funded!,
    interchange_revenue: 0 - books!.interchange!,
    network_fees: books!.fees!,
  }
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, balanceOf(name)]))).toEqual(expected)
}

/** Where an object has an event, the latest says what it is now: the outbox has all that has happened. */
export async function expectTold(account: Account): Promise<void> {
  const told = new Map<string, string>()
  for (const { data } of await account.list('/v1/events'))
    for (const { id, status } of Object.values<{ id: string; status: string }>(data)) told.set(id, status)
  const paths = ['card_transactions', 'disputes', 'settlements', 'payouts', 'payout_destinations']
  const made = (await Promise.all(paths.map((path) => account.list(`/v1/${path}`)))).flat()
  const statuses = made.map(({ id, status }) => [id, status] as const)
  expect(statuses.map(([id]) => [id, told.get(id)])).toEqual(statuses)
}

/** Property 10: what was sent is sent again, all at once; the answers are the same and nothing has moved. */
export async function expectReplays(account: Account): Promise<void> {
  const sent: readonly Sent[] = account.sent.slice(-20)
  const count = () => rowsOf(account, 'SELECT count(*) AS count FROM sandbox.audit_log WHERE tenant_id = $1')
  const before = await count()
  const answers = await Promise.all(sent.map(({ path, body, key }) => account.send(path, body, { key })))
  expect(answers.map(({ text }) => text)).toEqual(sent.map(({ text }) => text))
  expect(await count()).toEqual(before)
}
