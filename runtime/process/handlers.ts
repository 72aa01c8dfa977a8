import type { Handlers as CanonicalHandlers } from '../../generated/canonical/handlers.ts'
import { accountHandlers } from '../account/account/handlers.ts'
import { auditLogHandlers } from '../account/audit-log/handlers.ts'
import { testFaultsHandlers } from '../account/faults/handlers.ts'
import { promotionsHandlers } from '../account/promotions/handlers.ts'
import { requestLogsHandlers } from '../account/request-logs/handlers.ts'
import { sandboxesHandlers } from '../account/sandboxes/handlers.ts'
import { sandboxSnapshotsHandlers } from '../account/snapshots/handlers.ts'
import type { Context } from '../api/handler.ts'
import { authorizationEndpointHandlers } from '../cards/authorization-endpoint/handlers.ts'
import { cardholdersHandlers } from '../cards/cardholders/handlers.ts'
import { cardsHandlers } from '../cards/cards/handlers.ts'
import { authorizationDecisionsHandlers } from '../cards/decisions/handlers.ts'
import { disputesHandlers } from '../cards/disputes/handlers.ts'
import { merchantCategoriesHandlers } from '../cards/merchant-categories/handlers.ts'
import { networkSimulators } from '../cards/network/simulators.ts'
import { cardProgramsHandlers } from '../cards/programs/handlers.ts'
import { provisioningPayloadsHandlers } from '../cards/provisioning/handlers.ts'
import { sanctionsAlertsHandlers } from '../cards/sanctions-alerts/handlers.ts'
import { spendingControlBacktestsHandlers } from '../cards/spending-control-backtests/handlers.ts'
import { spendingControlDraftsHandlers } from '../cards/spending-control-drafts/handlers.ts'
import { spendingControlPromotionsHandlers } from '../cards/spending-control-promotions/handlers.ts'
import { spendingControlShadowsHandlers } from '../cards/spending-control-shadows/handlers.ts'
import { tokensHandlers } from '../cards/tokens/handlers.ts'
import { cardTransactionsHandlers } from '../cards/transactions/handlers.ts'
import { walletTokensHandlers } from '../cards/wallet-tokens/handlers.ts'
import { deliveryAttemptsHandlers } from '../events/delivery-attempts/handlers.ts'
import { eventsHandlers } from '../events/list/handlers.ts'
import { webhookEndpointsHandlers } from '../events/webhook-endpoints/handlers.ts'
import { webhookRecoveriesHandlers } from '../events/webhook-recoveries/handlers.ts'
import { balanceHandlers } from '../money/balance/handlers.ts'
import { payoutDestinationsHandlers } from '../money/destinations/handlers.ts'
import { payoutsHandlers } from '../money/payouts/handlers.ts'
import { treasuryReportsHandlers } from '../money/reports/handlers.ts'
import { settlementsHandlers } from '../money/settlements/handlers.ts'
import { settlementSimulators } from '../money/settlements/simulators.ts'
import { passMessageBatchesHandlers } from '../passes/pass-messages/batch-handlers.ts'
import { passMessagesHandlers } from '../passes/pass-messages/handlers.ts'
import { passesHandlers } from '../passes/passes/handlers.ts'
import { passSimulators } from '../passes/passes/simulators.ts'
import { scansHandlers } from '../passes/scans/handlers.ts'
import { passTemplatesHandlers } from '../passes/templates/handlers.ts'

/** All handlers, by operation. */
export const handlers = {
  ...accountHandlers,
  ...auditLogHandlers,
  ...authorizationDecisionsHandlers,
  ...authorizationEndpointHandlers,
  ...balanceHandlers,
  ...cardProgramsHandlers,
  ...cardholdersHandlers,
  ...cardTransactionsHandlers,
  ...cardsHandlers,
  ...deliveryAttemptsHandlers,
  ...disputesHandlers,
  ...eventsHandlers,
  ...merchantCategoriesHandlers,
  ...networkSimulators,
  ...passTemplatesHandlers,
  ...passesHandlers,
  ...passSimulators,
  ...payoutDestinationsHandlers,
  ...payoutsHandlers,
  ...promotionsHandlers,
  ...provisioningPayloadsHandlers,
  ...requestLogsHandlers,
  ...sanctionsAlertsHandlers,
  ...sandboxesHandlers,
  ...sandboxSnapshotsHandlers,
  ...scansHandlers,
  ...settlementsHandlers,
  ...settlementSimulators,
  ...spendingControlBacktestsHandlers,
  ...spendingControlDraftsHandlers,
  ...spendingControlPromotionsHandlers,
  ...spendingControlShadowsHandlers,
  ...testFaultsHandlers,
  ...tokensHandlers,
  ...treasuryReportsHandlers,
  ...walletTokensHandlers,
  ...webhookEndpointsHandlers,
  ...webhookRecoveriesHandlers,
  ...passMessagesHandlers,
  ...passMessageBatchesHandlers,
}

/** Requires a member for each documented operation without a handler, and allows no other. */
export type NotWritten<Written> = Readonly<
  Record<Exclude<keyof CanonicalHandlers<Context>, keyof Written>, true>
>

/**
 * Operations without a handler, which answer 501. When you add a handler to the table above, remove its operation here.
 */
export const NOT_WRITTEN_YET: NotWritten<typeof handlers> = {}
