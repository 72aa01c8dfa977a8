/** Where a live list learns that its records have changed. */
import type { ListOperation } from '../../../generated/canonical/records.ts'
import type { Database } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import { readEvent, readEventHead, readEventsAfter } from '../../events/emit/queries.ts'
import type { StreamStart } from '../../events/emit/streams.ts'
import { readEntriesAfter, readEntry, readNewestEntry } from '../../tenants/audit/queries.ts'

/**
 * Beginnings of event types, by the operation that lists the records. Records without events are missing. An event of these types can
 * also be about another record: `pass.scanned` is about a scan.
 */
const TYPES: Readonly<Partial<Record<ListOperation, readonly string[]>>> = {
  listPassTemplates: ['pass_template.'],
  listPasses: ['pass.'],
  listPassMessages: ['pass_message.'],
  listPassMessageBatches: ['pass_message_batch.'],
  listScans: ['pass.scanned'],
  listWebhookEndpoints: ['webhook_endpoint.'],
  listEvents: [''],
  listCardholders: ['cardholder.'],
  listSanctionsAlerts: ['cardholder.sanctions.'],
  listCards: ['card.'],
  listCardTransactions: ['card.transaction.'],
  listDisputes: ['dispute.'],
  listBalanceEntries: ['card.transaction.', 'settlement.', 'payout.'],
  listSettlements: ['settlement.'],
  listPayouts: ['payout.'],
  listPayoutDestinations: ['payout_destination.'],
  listTreasuryReports: ['treasury_report.'],
  listSpendingControlBacktests: ['spending_control_backtest.'],
}

/** Beginnings of the actions of audit entries, for records that events are not about. */
const ACTIONS: Readonly<Partial<Record<ListOperation, readonly string[]>>> = {
  listAuditEntries: [''],
  listCardPrograms: ['card_program.'],
  listSpendingControlDrafts: ['spending_control_draft.', 'spending_control_shadow.'],
  // The event is about a copy.
  listPromotions: ['promotion.'],
  listSandboxes: ['sandbox.', 'sandbox_snapshot.'],
}

/** The tenant's events, or the entries of its audit log in the form of events. */
export interface LiveSource {
  /** Beginnings of the types after which rows of the list change. */
  readonly types: readonly string[]
  readHead(db: Database, space: string): Promise<StreamStart>
  /** Returns the place of an event or an entry, or undefined if it does not exist. */
  readPlace(db: Database, space: string, id: string): Promise<StreamStart | undefined>
  readonly readAfter: typeof readEventsAfter
}

const EVENTS = { readHead: readEventHead, readPlace: readEvent, readAfter: readEventsAfter }

const ownerOf = (space: string): string => readSpace(space).tenantId

const ENTRIES: Omit<LiveSource, 'types'> = {
  readHead: async (db, space) => (await readNewestEntry(db, ownerOf(space))) ?? { sequence: 0, id: '' },
  readPlace: (db, space, id) => readEntry(db, ownerOf(space), id),
  async readAfter(db, space, after, limit) {
    const entries = await readEntriesAfter(db, ownerOf(space), after, limit)
    return entries.map(({ sequence, id, action, target_id, created }) => ({
      sequence,
      id,
      type: action,
      body: JSON.stringify({ data: { entry: { id, created }, target: { id: target_id ?? '' } } }),
    }))
  },
}

/** Returns the source of the list's changes, or undefined if the list is not live. */
export function liveSourceOf(operation: ListOperation): LiveSource | undefined {
  const [types, actions] = [TYPES[operation], ACTIONS[operation]]
  if (types) return { ...EVENTS, types }
  return actions && { ...ENTRIES, types: actions }
}
