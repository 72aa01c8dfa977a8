/**
 * Replays recorded card transactions with proposed spending controls. Pure: it decides with the functions that decide live
 * authorizations, and folds messages as transactions do. Amounts are cents, times are service time.
 */
import type { components } from '../../../generated/canonical/types.ts'
import { categoryOf } from '../merchant-categories/catalogue.ts'
import type { SpendingControls } from '../programs/spending-controls.ts'
import type { DeclineCode } from '../transactions/findings.ts'
import { type Folded, foldMessages, NOTHING } from '../transactions/messages.ts'
import { decideAgain } from '../transactions/proposed-decisions.ts'
import type { TransactionMessage } from '../transactions/queries.ts'
import { isControl, type JudgedRule, judgeControls } from '../transactions/rules.ts'
import { countOf, spentBy } from '../transactions/spending.ts'
import { type MerchantOfUse, type NetworkChecks, usesOf } from '../transactions/use-rules.ts'
import { createMessageQueue } from './message-queue.ts'
import { SpendingTotals } from './totals.ts'

type Schemas = components['schemas']
type EntryMethod = Schemas['EntryMethod']

/** A card transaction as it was recorded. */
export interface RecordedTransaction {
  readonly id: string
  readonly card_id: string
  readonly created: number
  readonly merchant: MerchantOfUse & { readonly category_code: string }
  readonly entry_method: EntryMethod | null
  readonly checks: NetworkChecks | null
  /** Null if the tenant's endpoint was not asked. */
  readonly decision_id: string | null
  /** Cents that the tenant's endpoint approved; null if that was not less than the requested amount. */
  readonly answered: number | null
  /** Whether the service decided, rather than the network. */
  readonly is_judged: boolean
  /** The rules of the last decision; needed only if it declined or reduced the amount. */
  readonly rules: readonly JudgedRule[] | null
  /** In the order of arrival. */
  readonly messages: readonly TransactionMessage[]
}

/** A decision that the proposed controls would change. */
export interface Flip {
  readonly card_transaction_id: string
  readonly card_id: string
  readonly change: Schemas['SpendingControlChange']
  readonly code: DeclineCode
  /** Null if only the recorded reason is known. */
  readonly rule: string | null
  readonly amount: number
  /** Approved cents; 0 if it was declined, and null if an earlier version of the service found the flip. */
  readonly recorded_amount: number | null
  /** As `recorded_amount`, by the proposed controls. */
  readonly draft_amount: number | null
  readonly created: number
}

export type BacktestResult = Schemas['SpendingControlBacktestResult']

type Cause = Schemas['SpendingControlFixed']['cause']

/** Number of flips that are kept as a sample. */
export const MAX_FLIPS = 1000

export interface Replay {
  /** Takes the next transaction. Transactions come in the order in which they began. */
  take(transaction: RecordedTransaction): void
  /** Takes the messages that are left, and returns the result with a sample of flips. */
  end(): { readonly result: BacktestResult; readonly flips: readonly Flip[] }
}

/** A transaction during the replay. */
interface Replayed {
  readonly recorded: RecordedTransaction
  readonly category: string
  /** The messages so far, with the decisions of the proposed controls. */
  readonly messages: TransactionMessage[]
  state: Folded
  /** Whether the proposed controls declined the authorization, so that the merchant sends nothing further. */
  isOver: boolean
}

/**
 * Starts a replay. Decisions from `from` until before `to` are evaluated; earlier transactions only add to what is spent.
 * An authorization that only the proposed controls approve counts as spent from then on.
 */
export function startReplay(controls: SpendingControls, from: number, to: number): Replay {
  const totals = new SpendingTotals(controls)
  const waiting = createMessageQueue<Replayed>()
  const tally = createTally()

  function apply(replayed: Replayed, index: number): void {
    if (replayed.isOver) return
    const { recorded, category, state } = replayed
    const given = recorded.messages[index]!
    const message = given.created < from || given.created >= to ? given : redecide(replayed, given)
    replayed.messages.push(message)
    const after = foldMessages(replayed.messages, 0) // refunds do not change what is spent
    const { card_id: card, merchant, created: began } = recorded
    totals.add(
      { card, category, merchant, began },
      {
        amount: spentBy(after) - spentBy(state),
        authorizations: countOf(after) - countOf(state),
        uses: usesOf(after) - usesOf(state),
      },
    )
    replayed.state = after
    replayed.isOver = message !== given && message.approved === undefined && message.kind === 'authorization'
  }

  /** Returns the message with the decision of the proposed controls. */
  function redecide(replayed: Replayed, message: TransactionMessage): TransactionMessage {
    const { kind, amount = 0, approved } = message
    if (kind !== 'authorization' && kind !== 'increment') return message
    const { recorded, state } = replayed
    const cause = fixedBy(replayed, message)
    if (cause) {
      tally.fix(cause, amount)
      return message
    }
    const { card_id, merchant, entry_method: entryMethod, checks } = recorded
    const { category_code: categoryCode, country } = merchant
    const use = { merchant, entryMethod, checks: checks ?? {}, at: message.created }
    const { partial } = message
    const request = { amount, categoryCode, country, authorized: state.authorized, partial, use }
    const findings = judgeControls(request, totals.factsAt(card_id, merchant, message.created))
    const proposed = decideAgain(request, controls, findings, {
      approved,
      rules: isLastDecision(recorded, message) ? (recorded.rules ?? []) : undefined,
      answered: (kind === 'authorization' && recorded.answered) || undefined,
    })
    tally.evaluate(amount)
    if (proposed.approved === approved) return message
    const { declined, approved: _, ...asked } = message
    const change = changeOf(approved, proposed.approved)
    const known = {
      code: declined ?? 'processing_error',
      rule: failedRules(recorded).find(isControl) ?? null,
    }
    const { code, rule } = proposed.reason ?? known
    tally.flip({
      ...{ card_transaction_id: recorded.id, card_id, change, code, rule, amount },
      ...{ recorded_amount: approved ?? 0, draft_amount: proposed.approved ?? 0, created: message.created },
    })
    return proposed.approved === undefined
      ? { ...asked, declined: code }
      : { ...asked, approved: proposed.approved }
  }

  return {
    take(recorded) {
      for (const { of, index } of waiting.takeUntil(recorded.created)) apply(of, index)
      if (recorded.messages.length === 0) return // nothing has moved
      const category = categoryOf(recorded.merchant.category_code)
      const replayed: Replayed = { recorded, category, messages: [], state: NOTHING, isOver: false }
      apply(replayed, 0)
      for (let index = 1; index < recorded.messages.length; index += 1) {
        const { created } = recorded.messages[index]!
        if (created < to) waiting.add({ at: created, of: replayed, index })
      }
    },
    end() {
      for (const { of, index } of waiting.takeUntil(Number.POSITIVE_INFINITY)) apply(of, index)
      return tally.end()
    },
  }
}

/** @param recorded approved cents; undefined if it was declined. @param proposed likewise. */
function changeOf(recorded: number | undefined, proposed: number | undefined): Flip['change'] {
  if (proposed === undefined) return 'approved_to_declined'
  return recorded === undefined ? 'declined_to_approved' : 'amount_changed'
}

const CONTROL_CODES: ReadonlySet<DeclineCode> = new Set([
  'merchant_category_blocked',
  'merchant_country_blocked',
  'spending_limit_exceeded',
  'authorization_count_exceeded',
  'merchant_blocked',
  'entry_method_blocked',
  'time_blocked',
  'merchant_limit_exceeded',
  'merchant_count_exceeded',
  'first_use_abroad',
  'check_failed',
])

const failedRules = ({ rules }: RecordedTransaction): readonly string[] =>
  (rules ?? []).filter(({ outcome }) => outcome === 'failed').map(({ rule }) => rule)

/** Whether the recorded rules are those of a message. */
const isLastDecision = ({ messages }: RecordedTransaction, message: TransactionMessage): boolean =>
  messages.findLast(({ kind }) => kind === 'authorization' || kind === 'increment') === message

/** Returns what holds a decision fixed, or undefined if the spending controls alone decided it. */
function fixedBy({ recorded, state }: Replayed, message: TransactionMessage): Cause | undefined {
  const { kind, approved, declined, advises } = message
  if (!recorded.is_judged || advises !== undefined) return 'network'
  if (kind === 'increment' && state.held === 0) return 'card'
  if (approved !== undefined) return undefined
  // Of an earlier decision, only the reason is known.
  if (!isLastDecision(recorded, message)) {
    if (declined && CONTROL_CODES.has(declined) && recorded.decision_id === null) return undefined
    return recorded.decision_id === null ? 'card' : 'authorization_endpoint'
  }
  const other = failedRules(recorded).find((rule) => !isControl(rule))
  if (other === undefined) return undefined
  return other === 'decision' ? 'authorization_endpoint' : other === 'balance' ? 'balance' : 'card'
}

interface Counted {
  count: number
  amount: number
}

function countIn<Key>(counts: Map<Key, Counted>, key: Key, amount: number): void {
  const before = counts.get(key) ?? { count: 0, amount: 0 }
  counts.set(key, { count: before.count + 1, amount: addWithin(before.amount, amount) })
}

/** Sums stay exact numbers. */
const addWithin = (sum: number, amount: number) => Math.min(sum + amount, Number.MAX_SAFE_INTEGER)

const ZERO: Counted = { count: 0, amount: 0 }

function createTally() {
  const evaluated = new Map<'evaluated', Counted>()
  const changed = new Map<Flip['change'], Counted>()
  const fixed = new Map<Cause, Counted>()
  const reasons = new Map<`${Flip['change']} ${DeclineCode}`, Counted>()
  const flips: Flip[] = []
  return {
    evaluate: (amount: number) => countIn(evaluated, 'evaluated', amount),
    fix: (cause: Cause, amount: number) => countIn(fixed, cause, amount),
    flip(flip: Flip) {
      countIn(changed, flip.change, flip.amount)
      countIn(reasons, `${flip.change} ${flip.code}`, flip.amount)
      if (flips.length < MAX_FLIPS) flips.push(flip)
    },
    end() {
      const result: BacktestResult = {
        evaluated: evaluated.get('evaluated') ?? ZERO,
        approved_to_declined: changed.get('approved_to_declined') ?? ZERO,
        declined_to_approved: changed.get('declined_to_approved') ?? ZERO,
        amount_changed: changed.get('amount_changed') ?? ZERO,
        fixed: [...fixed].map(([cause, counted]) => ({ cause, ...counted })),
        reasons: [...reasons].map(([reason, counted]) => {
          const [change, code] = reason.split(' ') as [Flip['change'], DeclineCode]
          return { change, code, ...counted }
        }),
      }
      return { result, flips }
    },
  }
}
