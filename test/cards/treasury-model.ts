/** Days, settlements, destinations and payouts as plain numbers. Amounts are cents, times the settlement clock's in milliseconds. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface ModelSettlement {
  readonly period_end: number
  status: 'open' | 'pending' | 'processing' | 'settled' | 'failed'
  due: number | null
  transaction_amount: number
  interchange_amount: number
  fees_amount: number
  net_amount: number
  lines_count: number
  isPaid: boolean
}

export interface ModelDestination {
  status: 'inactive' | 'active' | 'disabled' | 'denied'
  readonly active_at: number
  default: boolean
}

export interface ModelPayout {
  status: 'pending' | 'in_transit' | 'paid' | 'failed' | 'canceled' | 'returned'
  readonly amount: number
}

export type TreasuryOperation =
  | { readonly kind: 'next' }
  | { readonly kind: 'seconds'; readonly seconds: number }
  | { readonly kind: 'step' | 'fail_settlement'; readonly pick: number }
  | { readonly kind: 'to'; readonly pick: number; readonly to: ModelSettlement['status'] }
  | { readonly kind: 'destination'; readonly isListed: boolean; readonly default?: boolean }
  | { readonly kind: 'disable' | 'make_default'; readonly pick: number }
  | { readonly kind: 'payout'; readonly pick: number; readonly amount: number }
  | { readonly kind: 'cancel_payout' | 'fail_payout' | 'return_payout'; readonly pick: number }
  /** What the chain says of a payout. */
  | {
      readonly kind: 'chain'
      readonly pick: number
      readonly state: 'in_transit' | 'confirmed' | 'paid' | 'reorged'
    }

/** What an operation is answered: a success, or the status of the refusal. */
export type Expected = 'done' | 409 | 422

export const pickOf = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length]

/** A part of an amount in whole cents, halves to the even one. */
export function share(amount: number, numerator: number, denominator = 10_000): number {
  const [whole, rest] = [Math.floor((amount * numerator) / denominator), (amount * numerator) % denominator]
  return 2 * rest > denominator || (2 * rest === denominator && whole % 2 === 1) ? whole + 1 : whole
}

const NEXT = { open: 'pending', pending: 'processing', failed: 'processing', processing: 'settled' } as const

type Lines = Partial<Pick<ModelSettlement, 'transaction_amount' | 'interchange_amount' | 'fees_amount'>>

/** A tenant's money beside its cards. `treasury` does an operation and gives what is expected of it; undefined: there is nothing to do it to. */
export class TreasuryModel {
  /** What cards can spend, holds included. */
  funds = 0
  payable = 0
  readonly settlements: ModelSettlement[] = []
  readonly destinations: ModelDestination[] = []
  readonly payouts: ModelPayout[] = []

  /** Of the settlement clock. */
  time: number

  constructor(time: number) {
    this.time = time
  }

  /** The lines of a clearing; its interchange and its fee have one where they come to a cent. */
  collect(amount: number, interchange_amount = share(amount, 150)): void {
    const fees_amount = share(amount, 10)
    this.addLines(
      interchange_amount - fees_amount,
      2 + Number(interchange_amount !== 0) + Number(fees_amount > 0),
      {
        transaction_amount: -amount,
        interchange_amount,
        fees_amount,
      },
    )
  }

  addLines(net: number, count: number, lines: Lines = {}): void {
    const latest = this.settlements.at(-1)
    const row = latest?.status === 'open' ? latest : this.openSettlement()
    row.net_amount += net
    row.lines_count += count
    for (const [name, amount] of Object.entries(lines)) row[name as keyof Lines & 'fees_amount'] += amount
  }

  openSettlement(): ModelSettlement {
    const start = Math.max(Math.floor(this.time / DAY_MS) * DAY_MS, this.settlements.at(-1)?.period_end ?? 0)
    const period_end = start + DAY_MS
    const sums = {
      transaction_amount: 0,
      interchange_amount: 0,
      fees_amount: 0,
      net_amount: 0,
      lines_count: 0,
    }
    const row = { status: 'open' as const, period_end, due: period_end, isPaid: false, ...sums }
    this.settlements.push(row)
    return row
  }

  /** When time does something next, by itself. */
  nextTime(): number {
    const held = this.destinations.filter(({ status }) => status === 'inactive').map((each) => each.active_at)
    return Math.min(...held, ...this.settlements.map(({ due }) => due ?? Number.POSITIVE_INFINITY))
  }

  /** Moves the clock; gives the settlements that have moved. */
  pass(until: number): ReadonlySet<ModelSettlement> {
    const moved = new Set<ModelSettlement>()
    for (;;) {
      const [row] = this.settlements
        .filter(({ due }) => due !== null && due <= until)
        .toSorted((a, b) => a.due! - b.due!)
      if (!row) break
      this.activate(row.due!)
      this.move(row)
      moved.add(row)
    }
    this.activate(until)
    this.time = Math.max(this.time, until)
    return moved
  }

  activate(until: number): void {
    for (const row of this.destinations)
      if (row.status === 'inactive' && row.active_at <= until) row.status = 'active'
  }

  move(row: ModelSettlement): void {
    row.status = NEXT[row.status as keyof typeof NEXT]
    row.due = row.status === 'settled' ? null : row.due! + HOUR_MS
    if (row.status !== 'settled') return
    if (row.net_amount < 0) this.funds += row.net_amount
    else this.payable += row.net_amount
    row.isPaid =
      row.net_amount > 0 && this.destinations.some((each) => each.default && each.status === 'active')
    if (row.isPaid) this.pay(row.net_amount)
  }

  pay(amount: number): void {
    this.payable -= amount
    this.payouts.push({ status: 'pending', amount })
  }

  /** When time has taken a settlement to a status. */
  timeOf({ status, due }: ModelSettlement, to: ModelSettlement['status']): number | undefined {
    if (status === to) return this.time
    if (status === 'settled') return undefined
    const path = ['pending', 'processing', 'settled'].slice(['open', 'pending', 'processing'].indexOf(status))
    const steps = status === 'failed' ? ['processing', 'settled'] : path
    const index = steps.indexOf(to)
    return index < 0 ? undefined : due! + index * HOUR_MS
  }

  treasury(operation: TreasuryOperation): Expected | undefined {
    switch (operation.kind) {
      case 'destination':
        return this.addDestination(operation)
      case 'disable':
      case 'make_default':
        return this.changeDestination(pickOf(this.destinations, operation.pick), operation.kind)
      case 'payout':
        return this.order(pickOf(this.destinations, operation.pick), operation.amount)
      case 'cancel_payout':
      case 'fail_payout':
      case 'return_payout':
        return this.end(pickOf(this.payouts, operation.pick), operation.kind)
      case 'chain':
        return follow(pickOf(this.payouts, operation.pick), operation.state)
      case 'fail_settlement':
        return this.failSettlement(pickOf(this.settlements, operation.pick))
      default:
        throw new Error(operation.kind)
    }
  }

  addDestination({ isListed, ...given }: TreasuryOperation & { readonly kind: 'destination' }): Expected {
    const isDefault = !isListed && (given.default ?? !this.destinations.some((each) => each.default))
    if (isDefault) for (const each of this.destinations) each.default = false
    const status = isListed ? 'denied' : 'inactive'
    this.destinations.push({ status, active_at: this.time + DAY_MS, default: isDefault })
    return 'done'
  }

  changeDestination(
    row: ModelDestination | undefined,
    kind: 'disable' | 'make_default',
  ): Expected | undefined {
    if (!row) return undefined
    if (row.status === 'disabled' || row.status === 'denied') return 409
    if (kind === 'make_default') for (const each of this.destinations) each.default = false
    row.default = kind === 'make_default'
    if (kind === 'disable') row.status = 'disabled'
    return 'done'
  }

  order(destination: ModelDestination | undefined, amount: number): Expected | undefined {
    if (!destination) return undefined
    if (destination.status !== 'active' || amount > this.payable) return 409
    this.pay(amount)
    return 'done'
  }

  end(
    row: ModelPayout | undefined,
    kind: 'cancel_payout' | 'fail_payout' | 'return_payout',
  ): Expected | undefined {
    if (!row) return undefined
    const from = {
      cancel_payout: ['pending'],
      fail_payout: ['pending', 'in_transit'],
      return_payout: ['paid'],
    }
    if (!from[kind].includes(row.status)) return 409
    row.status = ({ cancel_payout: 'canceled', fail_payout: 'failed', return_payout: 'returned' } as const)[
      kind
    ]
    this.payable += row.amount
    return 'done'
  }

  failSettlement(row: ModelSettlement | undefined): Expected | undefined {
    if (!row) return undefined
    if (row.status !== 'processing') return 409
    Object.assign(row, { status: 'failed', due: this.time + HOUR_MS })
    return 'done'
  }
}

/** What has ended stays so, whatever the chain says. */
function follow(row: ModelPayout | undefined, state: string): Expected | undefined {
  if (!row) return undefined
  if (['pending', 'in_transit'].includes(row.status)) row.status = state === 'paid' ? 'paid' : 'in_transit'
  return 'done'
}
