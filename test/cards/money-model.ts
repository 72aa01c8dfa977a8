/** Card transactions and disputes as plain numbers: what a caller may expect of any sequence of operations. */

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
}

export interface ModelDispute {
  readonly transaction: ModelTransaction
  amount: number
  status: 'unsubmitted' | 'submitted' | 'under_review' | 'won' | 'lost' | 'withdrawn'
}

export type Operation =
  | { readonly kind: 'fund'; readonly amount: number }
  | { readonly kind: 'authorize' | 'force_post'; readonly card: number; readonly amount: number }
  | {
      readonly kind: 'increment' | 'reversal' | 'clearing' | 'refund'
      readonly pick: number
      readonly amount: number
      readonly final?: boolean
    }
  | { readonly kind: 'expiry' | 'release'; readonly pick: number }
  | { readonly kind: 'dispute'; readonly pick: number; readonly amount: number }
  | { readonly kind: 'submit' | 'withdraw' | 'under_review' | 'won' | 'lost'; readonly pick: number }

/** A card's limit for a day, in cents; the clock stands still. */
export const LIMITS = [undefined, 5000, 300] as const

/** What an operation is answered: a success, or the status of the refusal. */
export type Expected = 'done' | 409 | 422

const of = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length]

/** The whole account. `apply` does an operation and gives what is expected of it; undefined where there is nothing to do it to. */
export class MoneyModel {
  funds = 0
  readonly transactions: ModelTransaction[] = []
  readonly disputes: ModelDispute[] = []

  get held(): number {
    return this.transactions.reduce((sum, { held }) => sum + held, 0)
  }

  get credited(): number {
    const open = this.disputes.filter(({ status }) => status === 'submitted' || status === 'under_review')
    return open.reduce((sum, { amount }) => sum + amount, 0)
  }

  target(operation: Operation): ModelTransaction | ModelDispute | undefined {
    if (!('pick' in operation)) return undefined
    return DISPUTING.has(operation.kind)
      ? of(this.disputes, operation.pick)
      : of(this.transactions, operation.pick)
  }

  apply(operation: Operation): Expected | undefined {
    if (operation.kind === 'fund') {
      this.funds += operation.amount
      return 'done'
    }
    if (operation.kind === 'authorize' || operation.kind === 'force_post') return this.begin(operation)
    const target = this.target(operation)
    if (!target) return undefined
    return 'status' in target ? changeDispute(target, operation) : this.change(target, operation)
  }

  allows(card: number, amount: number): boolean {
    const own = this.transactions.filter((each) => each.card === card)
    const spent = own.reduce((sum, { held, cleared }) => sum + held + cleared, 0)
    return amount <= this.funds - this.held && spent + amount <= (LIMITS[card] ?? Number.POSITIVE_INFINITY)
  }

  begin({
    kind,
    card,
    amount,
  }: {
    readonly kind: string
    readonly card: number
    readonly amount: number
  }): Expected {
    const posted = kind === 'force_post'
    const approved = !posted && this.allows(card, amount)
    if (posted) this.funds -= amount
    this.transactions.push({
      card,
      requested: amount,
      authorized: approved ? amount : 0,
      held: approved ? amount : 0,
      cleared: posted ? amount : 0,
      refunded: 0,
      reversed: 0,
      disputed: 0,
      declined: !posted && !approved,
    })
    return 'done'
  }

  change(row: ModelTransaction, operation: Operation): Expected {
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
        if (row.held === 0 || amount > row.held) return 409
        row.held -= amount
        row.reversed += amount
        return 'done'
      case 'clearing': {
        if (row.declined) return 409
        const rest = Math.max(0, row.held - amount)
        const kept = operation.final ? 0 : rest
        row.reversed += rest - kept
        row.held = kept
        row.cleared += amount
        this.funds -= amount
        return 'done'
      }
      case 'refund':
        if (amount > left) return 409
        row.refunded += amount
        this.funds += amount
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
}

const DISPUTING: ReadonlySet<string> = new Set(['submit', 'withdraw', 'under_review', 'won', 'lost'])

function changeDispute(row: ModelDispute, { kind }: Operation): Expected {
  const { status } = row
  const isSent = status === 'submitted' || status === 'under_review'
  if (kind === 'submit') {
    if (status !== 'unsubmitted') return 409
    row.status = 'submitted'
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
  row.status = kind === 'lost' ? 'lost' : 'withdrawn'
  row.transaction.disputed -= row.amount
  return 'done'
}
