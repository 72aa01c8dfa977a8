/** All resources that have pages, in the order of the menu. */

import type { DashboardResource, Identified } from '../../engine/shapes.ts'
import { PROMOTIONS } from '../promotions/promotions.ts'
import { AUDIT_LOG } from './audit-log.ts'
import { CARD_PROGRAMS } from './card-programs.ts'
import { CARDHOLDERS, SANCTIONS_ALERTS } from './cardholders.ts'
import { CARD_TRANSACTIONS, CARDS } from './cards.ts'
import { DISPUTES } from './disputes.ts'
import { EVENTS } from './events.ts'
import { PASS_TEMPLATES, PASSES, SCANS } from './passes.ts'
import { PAYOUT_DESTINATIONS } from './payout-destinations.ts'
import { PAYOUTS } from './payouts.ts'
import { REPORTS } from './reports.ts'
import { SETTLEMENTS } from './settlements.ts'
import { WEBHOOK_ENDPOINTS } from './webhook-endpoints.ts'

export interface ResourceGroup {
  readonly group: string
  readonly resources: readonly DashboardResource<Identified>[]
}

export const RESOURCES: readonly ResourceGroup[] = [
  { group: 'Passes', resources: [PASS_TEMPLATES, PASSES, SCANS] },
  {
    group: 'Cards',
    resources: [CARDHOLDERS, SANCTIONS_ALERTS, CARD_PROGRAMS, CARDS, CARD_TRANSACTIONS, DISPUTES],
  },
  { group: 'Money', resources: [SETTLEMENTS, PAYOUT_DESTINATIONS, PAYOUTS, REPORTS] },
  { group: 'Developers', resources: [EVENTS, WEBHOOK_ENDPOINTS] },
  { group: 'Account', resources: [PROMOTIONS, AUDIT_LOG] },
]
