/** Card transactions and disputes as plain numbers: what a caller may expect of any sequence of operations. */
import { type Expected, pickOf, share, TreasuryModel, type TreasuryOperation } from './treasury-model.ts'

export interface ModelTransaction {
  readonly card: number
  requested: number
  authorized: number
  held: number
  cleared: number
  refunded: number
  reversed: number
  disputed: number
  declined: boolean
  /** An authorization of 0 that is open. */
  verifying: boolean
  /** Interchange of its clearings, and how much of it refunds have returned. */
  earned: number
  returned: number
  /** By the settlement clock, while it is open. */
  readonly expires_at: number
}

export interface ModelDispute {
  readonly transaction: ModelTransaction
  amount: number
  status: 'unsubmitted' | 'submitted' | 'under_review' | 'won' | 'lost' | 'withdrawn'
}

/** What the tenant's endpoint says where it is asked; `half` approves half of the amount. */
export type Reply = 'approve' | 'half' | 'decline' | 'garbage' | 'late'

export type DefaultAction = 'approve' | 'decline'

export type CardOperation =
  | { readonly kind: 'fund'; readonly amount: number }
  | { readonly kind: 'authorize'; readonly card: number; readonly amount: number; readonly reply: Reply }
  | { readonly kind: 'force_post'; readonly card: number; readonly amount: number }
  | {
      readonly kind: 'increment' | 'reversal' | 'clearing' | 'refund'
      readonly pick: number
      readonly amount: number
      readonly final?: boolean
    }
  | { readonly kind: 'reversal' | 'expiry' | 'release'; readonly pick: number }
  | { readonly kind: 'dispute'; readonly pick: number; readonly amount: number }
  | { readonly kind: 'submit' | 'withdraw' | 'under_review' | 'won' | 'lost'; readonly pick: number }

export type Operation = CardOperation | TreasuryOperation

/** A card's limit for a day, in cents; the service clock stands still. */
export const LIMITS = [undefined, 5000, 300] as const

const HOLD_MS = 7 * 86_400_000

const CARDS: ReadonlySet<string> = new Set([
  ...['fund', 'authorize', 'force_post', 'increment', 'reversal', 'clearing', 'refund', 'expiry', 'release'],
  ...['dispute', 'submit', 'withdraw', 'under_review', 'won', 'lost'],
])

const isOfCards = (operation: Operation): operation is CardOperation => CARDS.has(operation.kind)

/** The whole account. `apply` does an operation and gives what is expected of it; undefined where there is nothing to do it to. */
export class MoneyModel extends TreasuryModel {
  readonly transactions: ModelTransaction[] = []
  readonly disputes: ModelDispute[] = []
  /** How many settlements the clock has moved at its last move. */
  moved = 0

  /** What is done where an endpoint is asked that gives no usable answer; undefined: there is none. */
  readonly asks: DefaultAction | undefined

  constructor(time: number, asks: DefaultAction | undefined) {
    super(time)
    this.asks = asks
  }

  get held(): number {
    return this.transactions.reduce((sum, { held }) => sum + held, 0)
  }

  target(operation: Operation): ModelTransaction | ModelDispute | undefined {
    if (!isOfCards(operation) || !('pick' in operation)) return undefined
    return DISPUTING.has(operation.kind)
      ? pickOf(this.disputes, operation.pick)
      : pickOf(this.transactions, operation.pick)
  }

  apply(operation: Operation): Expected | undefined {
    if (!isOfCards(operation)) {
      const until = this.untilOf(operation)
      if (until === 'none') return this.treasury(operation)
      if (until === 'never') return 409
      return until === undefined ? undefined : this.advance(until)
    }
    if (operation.kind === 'fund') {
      this.funds += operation.amount
      return 'done'
    }
    if (operation.kind === 'authorize' || operation.kind === 'force_post') return this.begin(operation)
    const target = this.target(operation)
    if (!target) return undefined
    return isModelDispute(target) ? this.changeDispute(target, operation) : this.change(target, operation)
  }

  /** How far an operation moves the clock; `never`: it is refused; `none`: it is about something else. */
  untilOf(operation: TreasuryOperation): number | 'never' | 'none' | undefined {
    if (operation.kind === 'seconds') return this.time + operation.seconds * 1000
    if (operation.kind === 'next') {
      const next = Math.min(this.nextTime(), ...this.transactions.filter(isOpen).map((row) => row.expires_at))
      return Number.isFinite(next) ? next : this.time
    }
    if (operation.kind !== 'step' && operation.kind !== 'to') return 'none'
    const row = pickOf(this.settlements, operation.pick)
    if (!row) return undefined
    return 'to' in operation ? (this.timeOf(row, operation.to) ?? 'never') : (row.due ?? this.time)
  }

  advance(until: number): Expected {
    this.moved = this.pass(Math.max(this.time, until)).size
    for (const row of this.transactions.filter(isOpen)) {
      if (row.expires_at > this.time) continue
      row.reversed += row.held
      row.held = 0
      row.verifying = false
    }
    return 'done'
  }

  allows(card: number, amount: number): boolean {
    if (amount === 0) return true
    const own = this.transactions.filter((each) => each.card === card)
    const spent = own.reduce((sum, { held, cleared }) => sum + held + cleared, 0)
    return amount <= this.funds - this.held && spent + amount <= (LIMITS[card] ?? Number.POSITIVE_INFINITY)
  }

  begin(operation: CardOperation & { readonly kind: 'authorize' | 'force_post' }): Expected {
    const { kind, card, amount } = operation
    const posted = kind === 'force_post'
    const approved = !posted && this.allows(card, amount) ? this.decide(amount, operation.reply) : undefined
    const authorized = approved ?? 0
    if (posted) {
      this.funds -= amount
      this.collect(amount)
    }
    this.transactions.push({
      card,
      requested: amount,
      authorized,
      held: authorized,
      cleared: posted ? amount : 0,
      refunded: 0,
      reversed: 0,
      disputed: 0,
      declined: !posted && approved === undefined,
      verifying: approved === 0,
      earned: posted ? share(amount, 150) : 0,
      returned: 0,
      expires_at: this.time + HOLD_MS,
    })
    return 'done'
  }

  /** How much of what the rules allow is authorized; undefined: it is declined. */
  decide(amount: number, reply: Reply): number | undefined {
    if (this.asks === undefined || reply === 'approve') return amount
    if (reply === 'half') return Math.ceil(amount / 2)
    return reply !== 'decline' && this.asks === 'approve' ? amount : undefined
  }

  change(row: ModelTransaction, operation: CardOperation): Expected {
    const amount = 'amount' in operation ? operation.amount : row.held
    const left = row.cleared - row.refunded - row.disputed
    switch (operation.kind) {
      case 'increment':
        if (row.held === 0) return 409
        row.requested += amount
        if (!this.allows(row.card, amount)) return 'done'
        row.authorized += amount
        row.held += amount
        return 'done'
      case 'reversal':
      case 'expiry':
      case 'release':
        if (!isOpen(row) || amount > row.held) return 409
        row.verifying = false
        row.held -= amount
        row.reversed += amount
        return 'done'
      case 'clearing': {
        if (row.declined) return 409
        const rest = Math.max(0, row.held - amount)
        const kept = operation.final ? 0 : rest
        row.reversed += rest - kept
        row.held = kept
        row.verifying = false
        row.cleared += amount
        this.funds -= amount
        row.earned += share(amount, 150)
        this.collect(amount, share(amount, 150) - this.returnMore(row))
        return 'done'
      }
      case 'refund':
        if (amount > left + this.openOf(row).reduce((sum, each) => sum + each.amount, 0)) return 409
        row.refunded += amount
        this.giveWay(row)
        this.funds += amount
        this.giveBack(row, amount)
        return 'done'
      case 'dispute':
        if (amount > left) return 409
        row.disputed += amount
        this.disputes.push({ transaction: row, amount, status: 'unsubmitted' })
        return 'done'
      default:
        throw new Error(operation.kind)
    }
  }

  /** Disputes that are still to be decided, as they give way to a refund. */
  openOf(row: ModelTransaction): ModelDispute[] {
    const own = this.disputes.filter(({ transaction }) => transaction === row).toReversed()
    return ['unsubmitted', 'submitted', 'under_review'].flatMap((status) =>
      own.filter((each) => each.status === status),
    )
  }

  giveWay(row: ModelTransaction): void {
    for (const dispute of this.openOf(row)) {
      const by = Math.min(dispute.amount, row.refunded + row.disputed - row.cleared)
      if (by <= 0) return
      row.disputed -= by
      if (dispute.status !== 'unsubmitted') this.addLines(-by, 1)
      if (by < dispute.amount) dispute.amount -= by
      else dispute.status = dispute.status === 'under_review' ? 'lost' : 'withdrawn'
    }
  }

  /** The lines of a refund, with what all refunds together are to return of the interchange. */
  giveBack(row: ModelTransaction, amount: number): void {
    const interchange_amount = 0 - this.returnMore(row)
    this.addLines(interchange_amount, interchange_amount === 0 ? 2 : 3, {
      transaction_amount: amount,
      interchange_amount,
    })
  }

  /** What is to be returned from now on, over what was returned before; below 0 where a clearing restores some. */
  returnMore(row: ModelTransaction): number {
    const before = row.returned
    row.returned = share(row.earned, row.refunded, row.cleared)
    return row.returned - before
  }

  changeDispute(row: ModelDispute, { kind }: CardOperation): Expected {
    const { status } = row
    const isSent = status === 'submitted' || status === 'under_review'
    if (kind === 'submit') {
      if (status !== 'unsubmitted') return 409
      row.status = 'submitted'
      this.addLines(row.amount, 1)
      return 'done'
    }
    if (kind === 'under_review' && status === 'submitted') {
      row.status = kind
      return 'done'
    }
    if (kind === 'won' && isSent) {
      row.status = kind
      return 'done'
    }
    const isOver =
      (kind === 'lost' && isSent) ||
      (kind === 'withdraw' && (status === 'unsubmitted' || status === 'submitted'))
    if (!isOver) return 409
    if (isSent) this.addLines(-row.amount, 1)
    row.status = kind === 'lost' ? 'lost' : 'withdrawn'
    row.transaction.disputed -= row.amount
    return 'done'
  }
}

const DISPUTING: ReadonlySet<string> = new Set(['submit', 'withdraw', 'under_review', 'won', 'lost'])

const isOpen = ({ held, verifying }: ModelTransaction) => held > 0 || verifying

export const isModelDispute = (target: ModelTransaction | ModelDispute): target is ModelDispute =>
  'transaction' in target
