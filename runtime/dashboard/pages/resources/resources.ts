/** All resources with dashboard pages, in menu order. */

import type { DashboardResource, Identified } from '../../engine/shapes.ts'
import { PROMOTIONS } from '../promotions/promotions.ts'
import { AUDIT_LOG } from './audit-log.ts'
import { BALANCE_ENTRIES } from './balance-entries.ts'
import { CARD_PROGRAMS } from './card-programs.ts'
import { CARD_TRANSACTIONS } from './card-transactions.ts'
import { CARDHOLDERS, SANCTIONS_ALERTS } from './cardholders.ts'
import { CARDS } from './cards.ts'
import { DISPUTES } from './disputes.ts'
import { EVENTS } from './events.ts'
import { PASS_MESSAGE_BATCHES, PASS_MESSAGES } from './pass-messages.ts'
import { PASS_TEMPLATES, PASSES, SCANS } from './passes.ts'
import { PAYOUT_DESTINATIONS } from './payout-destinations.ts'
import { PAYOUTS } from './payouts.ts'
import { REPORTS } from './reports.ts'
import { SANDBOXES } from './sandboxes.ts'
import { SETTLEMENTS } from './settlements.ts'
import { SPENDING_CONTROL_BACKTESTS } from './spending-control-backtests.ts'
import { SPENDING_CONTROL_DRAFTS } from './spending-control-drafts.ts'
import { WEBHOOK_ENDPOINTS } from './webhook-endpoints.ts'

/** Resources by menu group. */
export const RESOURCES: Readonly<Record<string, readonly DashboardResource<Identified>[]>> = {
  Passes: [PASS_TEMPLATES, PASSES, SCANS, PASS_MESSAGES, PASS_MESSAGE_BATCHES],
  Cards: [
    CARDHOLDERS,
    SANCTIONS_ALERTS,
    CARD_PROGRAMS,
    SPENDING_CONTROL_DRAFTS,
    SPENDING_CONTROL_BACKTESTS,
    CARDS,
    CARD_TRANSACTIONS,
    DISPUTES,
  ],
  Money: [BALANCE_ENTRIES, SETTLEMENTS, PAYOUT_DESTINATIONS, PAYOUTS, REPORTS],
  Developers: [EVENTS, WEBHOOK_ENDPOINTS, SANDBOXES],
  Account: [PROMOTIONS, AUDIT_LOG],
}
