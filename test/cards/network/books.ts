/** What a network knows of its card uses after a run, beside what the service knows. */
import { expect } from 'vitest'
import type { SimulatedMessage } from '../../../runtime/cards/network-simulator/messages.ts'
import type { Happening } from '../../../runtime/cards/network-simulator/run-scenario.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import type { TestDatabase } from '../../support/database.ts'

/** Cents of a card use. */
interface BookEntry {
  readonly held: number
  readonly cleared: number
  readonly refunded: number
}

/** Folds what a network sent and decided into the amounts of each transaction that it approved or collected from. */
export function bookOf(happenings: readonly Happening[]): ReadonlyMap<string, BookEntry> {
  const messages = new Map<string, SimulatedMessage>()
  const approved = new Set<string>()
  for (const { sent, outcome } of happenings) {
    const { message_id } = sent.message
    messages.set(message_id, sent)
    if (outcome.startsWith('approved')) approved.add(message_id)
    if (outcome.startsWith('declined')) approved.delete(message_id)
  }
  const completed = new Map<string, number>()
  for (const { kind, message } of messages.values())
    if (kind === 'advise' && message.approved) completed.set(message.advised_message_id, message.amount)
  const book = new Map<string, BookEntry>()
  const sentAt = ({ message }: SimulatedMessage) => Date.parse(message.sent_at)
  for (const sent of [...messages.values()].toSorted((a, b) => sentAt(a) - sentAt(b))) {
    if (!('transaction_id' in sent.message)) continue
    const { transaction_id, message_id } = sent.message
    const before = book.get(transaction_id) ?? { held: 0, cleared: 0, refunded: 0 }
    const isApproved = approved.has(message_id)
    const after = apply(before, sent, isApproved, completed)
    if (after) book.set(transaction_id, after)
  }
  return book
}

function apply(
  { held, cleared, refunded }: BookEntry,
  { kind, message }: SimulatedMessage,
  isApproved: boolean,
  completed: ReadonlyMap<string, number>,
): BookEntry | undefined {
  switch (kind) {
    case 'authorize':
    case 'increment': {
      const amount = completed.get(message.message_id) ?? message.amount
      return isApproved ? { held: held + amount, cleared, refunded } : undefined
    }
    case 'reverse':
      return { held: held - Math.min(message.amount ?? held, held), cleared, refunded }
    case 'clear': {
      const rest = Math.max(0, held - message.amount)
      return { held: message.final ? 0 : rest, cleared: cleared + message.amount, refunded }
    }
    case 'refund':
      return { held, cleared, refunded: refunded + message.amount }
    default:
      return undefined
  }
}

/**
 * Expects the service to know every transaction of the book with its amounts, and no hold beside them. A transaction that is
 * in no book was declined, or its answer got lost and it was reversed.
 */
export async function expectSameBooks(
  { control }: TestDatabase,
  environment: Environment,
  tenantId: string,
  book: ReadonlyMap<string, BookEntry>,
): Promise<void> {
  const { rows } = await control.query<BookEntry & { readonly network_id: string }>(
    {
      text: `SELECT network_id, held, cleared, refunded FROM ${environment}.card_transactions
              WHERE tenant_id = $1 AND network_id IS NOT NULL`,
    },
    [tenantId],
  )
  const known = new Map(rows.map(({ network_id, ...amounts }) => [network_id, amounts]))
  const nothing = { held: 0, cleared: 0, refunded: 0 }
  const ids = [...new Set([...book.keys(), ...known.keys()])].toSorted()
  const sumsOf = (of: ReadonlyMap<string, BookEntry>) => ids.map((id) => [id, of.get(id) ?? nothing] as const)
  expect(sumsOf(known)).toEqual(sumsOf(book))
  const { rows: holds } = await control.query<{ id: string; amount: number; held: number | null }>(
    {
      text: `SELECT h.id, h.amount, t.held FROM ${environment}.ledger_holds h
               LEFT JOIN ${environment}.card_transactions t ON t.tenant_id = h.tenant_id AND t.hold_id = h.id
              WHERE h.tenant_id = $1 AND NOT EXISTS (
                SELECT FROM ${environment}.ledger_resolutions r WHERE r.tenant_id = h.tenant_id AND r.hold_id = h.id)`,
    },
    [tenantId],
  )
  expect(holds.filter(({ amount, held }) => amount !== held)).toEqual([])
  const sum = (amounts: readonly number[]) => amounts.reduce((total, each) => total + each, 0)
  expect(sum(holds.map(({ amount }) => amount))).toBe(sum(rows.map(({ held }) => held)))
}
