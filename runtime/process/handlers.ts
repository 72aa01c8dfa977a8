/** Which handler answers which operation. */
import type { Handlers as CanonicalHandlers } from '../../generated/canonical/handlers.ts'
import type { Context } from '../api/handler.ts'
import { accountHandlers } from '../resources/account/handlers.ts'
import { auditLogHandlers } from '../resources/audit-log/handlers.ts'
import { authorizationDecisionsHandlers } from '../resources/authorization-decisions/handlers.ts'
import { authorizationEndpointHandlers } from '../resources/authorization-endpoint/handlers.ts'
import { balanceHandlers } from '../resources/balance/handlers.ts'
import { cardProgramsHandlers } from '../resources/card-programs/handlers.ts'
import { cardTransactionsHandlers } from '../resources/card-transactions/handlers.ts'
import { cardTransactionSimulators } from '../resources/card-transactions/simulators.ts'
import { cardholdersHandlers } from '../resources/cardholders/handlers.ts'
import { cardsHandlers } from '../resources/cards/handlers.ts'
import { deliveryAttemptsHandlers } from '../resources/delivery-attempts/handlers.ts'
import { disputesHandlers } from '../resources/disputes/handlers.ts'
import { eventsHandlers } from '../resources/events/handlers.ts'
import { merchantCategoriesHandlers } from '../resources/merchant-categories/handlers.ts'
import { passTemplatesHandlers } from '../resources/pass-templates/handlers.ts'
import { passesHandlers } from '../resources/passes/handlers.ts'
import { passSimulators } from '../resources/passes/simulators.ts'
import { payoutDestinationsHandlers } from '../resources/payout-destinations/handlers.ts'
import { payoutsHandlers } from '../resources/payouts/handlers.ts'
import { promotionsHandlers } from '../resources/promotions/handlers.ts'
import { provisioningPayloadsHandlers } from '../resources/provisioning-payloads/handlers.ts'
import { sanctionsAlertsHandlers } from '../resources/sanctions-alerts/handlers.ts'
import { scansHandlers } from '../resources/scans/handlers.ts'
import { settlementsHandlers } from '../resources/settlements/handlers.ts'
import { settlementSimulators } from '../resources/settlements/simulators.ts'
import { tokensHandlers } from '../resources/tokens/handlers.ts'
import { treasuryReportsHandlers } from '../resources/treasury-reports/handlers.ts'
import { walletTokensHandlers } from '../resources/wallet-tokens/handlers.ts'
import { webhookEndpointsHandlers } from '../resources/webhook-endpoints/handlers.ts'

/** Every handler that is written. */
export const handlers = {
  ...accountHandlers,
  ...auditLogHandlers,
  ...authorizationDecisionsHandlers,
  ...authorizationEndpointHandlers,
  ...balanceHandlers,
  ...cardProgramsHandlers,
  ...cardholdersHandlers,
  ...cardTransactionSimulators,
  ...cardTransactionsHandlers,
  ...cardsHandlers,
  ...deliveryAttemptsHandlers,
  ...disputesHandlers,
  ...eventsHandlers,
  ...merchantCategoriesHandlers,
  ...passTemplatesHandlers,
  ...passesHandlers,
  ...passSimulators,
  ...payoutDestinationsHandlers,
  ...payoutsHandlers,
  ...promotionsHandlers,
  ...provisioningPayloadsHandlers,
  ...sanctionsAlertsHandlers,
  ...scansHandlers,
  ...settlementsHandlers,
  ...settlementSimulators,
  ...tokensHandlers,
  ...treasuryReportsHandlers,
  ...walletTokensHandlers,
  ...webhookEndpointsHandlers,
}

/** Names each operation of the documents that the handlers lack, and no other: anything else does not compile. */
export type NotWritten<Written> = Readonly<
  Record<Exclude<keyof CanonicalHandlers<Context>, keyof Written>, true>
>

/** Operations that answer 501. Whoever writes a handler puts it into the table above and takes its operation out here. */
export const NOT_WRITTEN_YET: NotWritten<typeof handlers> = {}
