/** The events that are about the records of a list. */
import type { ListOperation } from '../../../generated/canonical/records.ts'

/**
 * Beginnings of event types, by the operation that lists the records. Records without events are missing. An event of these types can
 * also be about another record: `pass.scanned` is about a scan.
 */
const TYPES: Readonly<Partial<Record<ListOperation, readonly string[]>>> = {
  listPassTemplates: ['pass_template.'],
  listPasses: ['pass.'],
  listScans: ['pass.scanned'],
  listWebhookEndpoints: ['webhook_endpoint.'],
  listEvents: [''],
  listCardholders: ['cardholder.'],
  listSanctionsAlerts: ['cardholder.sanctions.'],
  listCards: ['card.'],
  listCardTransactions: ['card.transaction.'],
  listDisputes: ['dispute.'],
  listSettlements: ['settlement.'],
  listPayouts: ['payout.'],
  listPayoutDestinations: ['payout_destination.'],
  listTreasuryReports: ['treasury_report.'],
}

/** Returns the beginnings of the event types after which rows of the list change, or undefined if no events exist. */
export function liveTypesOf(operation: ListOperation): readonly string[] | undefined {
  return TYPES[operation]
}
