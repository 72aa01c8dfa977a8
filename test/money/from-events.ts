/** Rows of treasury reports, computed from events alone. */

// biome-ignore lint/suspicious/noExplicitAny: what an event carries depends on its type
type Data = any

export interface Event {
  readonly type: string
  readonly created: string
  readonly data: Data
}

/** Money that moves from one account to another, and why. */
interface Transfer {
  readonly created: string
  readonly source_id: string
  readonly from: string
  readonly to: string
  readonly amount: number
}

type Move = readonly [source_id: string, from: string, to: string, amount: number]

/** How much of a transaction's history was read already, what is credited of each dispute, which payouts are paid. */
interface Seen {
  readonly steps: Map<string, number>
  readonly credited: Map<string, number>
  readonly paid: Set<string>
}

function ofCards({ id, history }: Data, seen: Seen): Move[] {
  const told = seen.steps.get(id) ?? 0
  seen.steps.set(id, history.length)
  return history.slice(told).flatMap(({ type, amount }: Data): Move[] => {
    if (type === 'refund') return [[id, 'network_clearing', 'program_funds', amount]]
    const isCollected = type === 'clearing' || type === 'force_post'
    return isCollected ? [[id, 'program_funds', 'network_clearing', amount]] : []
  })
}

function ofDisputes({ id, status, amount }: Data, seen: Seen): Move[] {
  const credited = seen.credited.get(id)
  if (status === 'submitted' && credited === undefined) {
    seen.credited.set(id, amount)
    return [[id, 'dispute_receivable', 'provisional_credit', amount]]
  }
  if (credited === undefined) return []
  const isOver = ['won', 'lost', 'withdrawn'].includes(status)
  const back = isOver ? credited : credited - amount // less: the dispute has given way to a refund
  if (isOver) seen.credited.delete(id)
  else seen.credited.set(id, amount)
  const from = status === 'won' ? 'network_clearing' : 'provisional_credit'
  return back === 0 ? [] : [[id, from, 'dispute_receivable', back]]
}

function ofSettlements({
  id,
  status,
  interchange_amount: shown,
  lines,
  fees_amount,
  net_amount,
}: Data): Move[] {
  if (status !== 'settled') return []
  // Before 2026-05-19 a negative amount reads 0; the lines show it.
  const ofLines = lines.filter(({ type }: Data) => type === 'interchange')
  const interchange_amount = shown || ofLines.reduce((sum: number, line: Data) => sum + line.amount, 0)
  const into = (other: string, amount: number): Move =>
    amount > 0 ? [id, other, 'settlement_payable', amount] : [id, 'settlement_payable', other, -amount]
  return [
    into('interchange_revenue', interchange_amount),
    into('network_fees', -fees_amount),
    into('provisional_credit', net_amount - interchange_amount + fees_amount),
    into('program_funds', Math.max(0, -net_amount)),
  ].filter(([, , , amount]) => amount !== 0)
}

function ofPayouts(type: string, { id, status, amount }: Data, { paid }: Seen): Move[] {
  const move = (from: string, to: string): Move[] => [[id, from, to, amount]]
  if (type === 'payout.created') return move('settlement_payable', 'payout_in_transit')
  if (status === 'paid') return paid.add(id) && move('payout_in_transit', 'bank')
  if (status === 'in_transit') return paid.delete(id) ? move('bank', 'payout_in_transit') : []
  return move(status === 'returned' ? 'bank' : 'payout_in_transit', 'settlement_payable')
}

/** Everything that moved, in its order; a dispute's two events of one change are one. @param funded cents that came first: no event tells of test funds. */
export function transfersOf(
  events: readonly Event[],
  funded: { readonly amount: number; readonly created: string },
): Transfer[] {
  const seen: Seen = { steps: new Map(), credited: new Map(), paid: new Set() }
  const moved = events.flatMap(({ type, created, data }) => {
    const { card_transaction, dispute, settlement, payout } = data
    const moves = [
      ...(card_transaction ? ofCards(card_transaction, seen) : []),
      ...(dispute ? ofDisputes(dispute, seen) : []),
      ...(settlement ? ofSettlements(settlement) : []),
      ...(payout ? ofPayouts(type, payout, seen) : []),
    ]
    return moves.map(([source_id, from, to, amount]) => ({ source_id, from, to, amount, created }))
  })
  return [{ source_id: 'funding', from: 'bank', to: 'program_funds', ...funded }, ...moved]
}

/** Each account's entries with its balances. */
export function ledgerEntries(transfers: readonly Transfer[]) {
  const balances = new Map<string, number>()
  return transfers.flatMap(({ from, to, amount, source_id, created }) =>
    [[from, -amount] as const, [to, amount] as const].map(([account, moved]) => {
      const previous_balance = balances.get(account) ?? 0
      const balance = previous_balance + moved
      balances.set(account, balance)
      return { created, account, source_id, amount: moved, previous_balance, balance, currency: 'usd' }
    }),
  )
}

const KINDS: Readonly<Record<string, string>> = {
  ctx: 'card_transaction',
  stl: 'settlement',
  funding: 'funding',
}

/** What moved what cards can spend, by kind. */
export function balanceSummary(transfers: readonly Transfer[]) {
  const entries = ledgerEntries(transfers).filter(({ account }) => account === 'program_funds')
  const kindOf = ({ source_id, amount }: (typeof entries)[number]) =>
    amount > 0 && source_id.startsWith('ctx') ? 'card_refund' : KINDS[source_id.split('_')[0]!]!
  return [...Map.groupBy(entries, kindOf)]
    .map(([type, own]) => {
      const sum = (sign: number) =>
        own.reduce((total, { amount }) => total + (Math.sign(amount) === sign ? amount : 0), 0)
      const [credits, debits] = [sum(1), sum(-1)]
      return { type, entries: own.length, credits, debits, amount: credits + debits, currency: 'usd' }
    })
    .toSorted((a, b) => (a.type < b.type ? -1 : 1))
}

/** What made money payable and what paid it; payouts as their last event has them. */
export function payoutReconciliation(events: readonly Event[], transfers: readonly Transfer[]) {
  const payouts = new Map(events.flatMap(({ data }) => (data.payout ? [[data.payout.id, data.payout]] : [])))
  return ledgerEntries(transfers)
    .filter(({ account }) => account === 'settlement_payable')
    .map(({ source_id, amount, created }) => {
      const payout = payouts.get(source_id)
      const paid = amount < 0 ? 'payout' : 'payout_reversal'
      return {
        created,
        type: payout ? paid : 'settlement',
        settlement_id: payout ? payout.settlement_id : source_id,
        payout_id: payout?.id ?? null,
        payout_status: payout?.status ?? null,
        destination_id: payout?.destination_id ?? null,
        payout_currency: payout?.currency ?? null,
        amount,
        currency: 'usd',
      }
    })
}

/** The lines of settlements, as the last event of each has them. */
export function settlementReconciliation(events: readonly Event[]) {
  const settlements = new Map<string, Data>()
  for (const { data } of events) if (data.settlement) settlements.set(data.settlement.id, data.settlement)
  return [...settlements.values()].flatMap(({ id, status, lines }) =>
    lines.map(({ object: _, ...line }: Data) => ({
      ...{ settlement_id: id, settlement_status: status, ...line, currency: 'usd' },
    })),
  )
}
