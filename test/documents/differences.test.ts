import { describe, expect, test } from 'vitest'
import { differences, isHeldElsewhere, isWholeAddition, undated } from './differences.ts'
import { dates, documentOf } from './documents.ts'

/**
 * All differences of each document from the one before it, beside whole new operations, events and
 * components. A line that is missing here is a change that nobody announced.
 */
const announced: Readonly<Record<string, string>> = {
  '2025-11-01': `
~ /info/title
~ /info/summary
~ /info/description
~ /tags/promotions/description
+ /tags/tokens
+ /tags/cardholders
+ /tags/sanctions_alerts
+ /tags/card_programs
+ /tags/balance
+ /tags/cards
+ /tags/provisioning_payloads
+ /tags/wallet_tokens
+ /tags/card_transactions
+ /tags/disputes
+ /tags/merchant_categories
+ /tags/settlements
+ /tags/payouts
+ /tags/payout_destinations
+ /tags/treasury_reports
+ /tags/test_cards
+ /tags/test_settlements
+ /x-tagGroups/Sandbox helpers/tags/test_cards
+ /x-tagGroups/Sandbox helpers/tags/test_settlements
+ /x-tagGroups/Cards
+ /x-tagGroups/Settlement
~ /components/securitySchemes/apiKey/description
+ /components/securitySchemes/oauth/flows/authorizationCode/scopes/card:read
+ /components/securitySchemes/oauth/flows/authorizationCode/scopes/card:write
+ /components/securitySchemes/oauth/flows/authorizationCode/scopes/settlement:read
+ /components/securitySchemes/oauth/flows/authorizationCode/scopes/settlement:write
+ /components/responses/Forbidden/content/application~1json/examples/business_verification_required
+ /components/responses/Conflict/content/application~1json/examples/insufficient_balance
+ /components/schemas/ErrorCode/enum/business_verification_required
+ /components/schemas/ErrorCode/enum/state_not_supported
+ /components/schemas/ErrorCode/enum/live_only
+ /components/schemas/ErrorCode/enum/insufficient_balance
+ /components/schemas/RateLimitBucket/enum/cards_write
+ /components/schemas/RateLimitBucket/enum/settlements_write
+ /components/schemas/PromotableType/enum/card_program
`,
  '2026-02-01': `
~ /info/description
~ /info/x-status
- /info/x-deprecated
- /info/x-sunset
+ /tags/authorization_endpoint
+ /tags/authorization_decisions
+ /x-tagGroups/Cards/tags/authorization_endpoint
+ /x-tagGroups/Cards/tags/authorization_decisions
~ /paths/~1v1~1card_transactions/get/parameters/13/schema/$ref
~ /paths/~1v1~1card_transactions/get/parameters/13/example
+ /components/parameters/IdempotencyKey/required
~ /components/parameters/Signature/name
~ /components/responses/BadRequest/content/application~1json/examples/missing_field/summary
~ /components/responses/BadRequest/content/application~1json/examples/missing_field/value/error/message
~ /components/responses/BadRequest/content/application~1json/examples/missing_field/value/error/param
+ /components/responses/Forbidden/content/application~1json/examples/plan_required
+ /components/schemas/ErrorBody/properties/required_plan
+ /components/schemas/ErrorCode/enum/plan_required
+ /components/schemas/CardTransaction/required/decision_id
+ /components/schemas/CardTransaction/properties/decision_id
~ /components/schemas/Merchant/properties/category_code/$ref
+ /components/schemas/DeclineReasonCode/enum/decision_declined
+ /components/schemas/DeclineReasonCode/enum/decision_timed_out
+ /components/schemas/DeclineReasonCode/enum/decision_errored
~ /components/schemas/MerchantInput/properties/category_code/$ref
~ /components/schemas/MerchantInput/examples/0/category_code
~ /components/schemas/AuthorizationSimulation/examples/0/merchant/category_code
~ /components/schemas/ForcePostSimulation/examples/0/merchant/category_code
`,
  '2026-05-19': `
~ /info/x-status
+ /tags/request_logs
+ /tags/webhook_recoveries
+ /x-tagGroups/Events/tags/webhook_recoveries
+ /components/schemas/WebhookEndpoint/properties/signature
+ /components/schemas/WebhookEndpoint/properties/jwks_url
+ /components/schemas/WebhookEndpoint/properties/delivery
+ /components/schemas/WebhookEndpoint/properties/filters
+ /components/schemas/WebhookEndpoint/properties/retry_schedule
+ /components/schemas/WebhookEndpoint/properties/blocked
+ /components/schemas/WebhookEndpoint/properties/blocked_keys
+ /components/schemas/WebhookEndpoint/properties/fifo_key
+ /components/schemas/WebhookEndpoint/properties/unblocked
+ /components/schemas/WebhookEndpointCreate/properties/fifo_key
+ /components/schemas/WebhookEndpointCreate/properties/signature
+ /components/schemas/WebhookEndpointCreate/properties/delivery
+ /components/schemas/WebhookEndpointCreate/properties/filters
+ /components/schemas/WebhookEndpointCreate/properties/retry_schedule
+ /components/schemas/WebhookEndpointUpdate/properties/signature
+ /components/schemas/WebhookEndpointUpdate/properties/filters
+ /components/schemas/WebhookEndpointUpdate/properties/retry_schedule
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/name
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/in
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/description
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/x-filter
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/schema
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/example
- /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/12/$ref
+ /paths/~1v1~1webhook-endpoints~1{whe_id}~1delivery-attempts/get/parameters/13
+ /tags/sandbox_snapshots
+ /tags/sandboxes
+ /tags/test_faults
+ /x-tagGroups/Account/tags/request_logs
+ /x-tagGroups/Account/tags/sandbox_snapshots
+ /x-tagGroups/Account/tags/sandboxes
+ /x-tagGroups/Sandbox helpers/tags/test_faults
+ /components/schemas/TreasuryReport/properties/failure_code
+ /components/schemas/TreasuryReport/required/failure_code
~ /components/schemas/Settlement/properties/interchange_amount/$ref
+ /components/schemas/AuthorizationSimulation/properties/amount/description
~ /components/schemas/AuthorizationSimulation/properties/amount/$ref
~ /components/schemas/AuthorizationAnswer/properties/amount/$ref
+ /paths/~1v1~1disputes/post/x-body-limit
+ /paths/~1v1~1disputes~1{dispute_id}/patch/x-body-limit
+ /components/schemas/PassTemplateCreate/properties/relevant_locations
+ /components/schemas/PassTemplateCreate/examples/0/relevant_locations
+ /components/schemas/PassTemplateUpdate/properties/relevant_locations
+ /components/schemas/PassTemplate/required/relevant_locations
+ /components/schemas/PassTemplate/properties/relevant_locations
+ /components/schemas/Event/properties/previous_attributes
- /components/schemas/SpendingControlsInput/properties/allowed_categories
+ /components/schemas/SpendingControlsInput/properties/blocked_categories
- /components/schemas/SpendingControlsInput/examples/0/allowed_categories
+ /components/schemas/SpendingControlsInput/examples/0/blocked_categories
- /components/schemas/SpendingControls/required/allowed_categories
+ /components/schemas/SpendingControls/required/blocked_categories
- /components/schemas/SpendingControls/properties/allowed_categories
+ /components/schemas/SpendingControls/properties/blocked_categories
- /components/schemas/CardProgramCreate/examples/0/spending_controls/allowed_categories
+ /components/schemas/CardProgramCreate/examples/0/spending_controls/blocked_categories
- /components/schemas/CardCreate/examples/0/spending_controls/allowed_categories
+ /components/schemas/CardCreate/examples/0/spending_controls/blocked_categories
- /components/schemas/DisputeReason/enum/customer_dispute
+ /components/schemas/DisputeReason/enum/customer_complaint
+ /components/schemas/ScanResult/enum/outdated_code
- /components/schemas/SettlementLineType/enum/cardTransaction
- /components/schemas/SettlementLineType/enum/cardRefund
- /components/schemas/SettlementLineType/enum/networkFee
- /components/schemas/SettlementLineType/enum/disputeReversal
- /components/schemas/SettlementLineType/enum/programFunding
+ /components/schemas/PromotionCreate/properties/plan_id
+ /components/schemas/SettlementLineType/enum/card_transaction
+ /components/schemas/SettlementLineType/enum/card_refund
+ /components/schemas/SettlementLineType/enum/network_fee
+ /components/schemas/SettlementLineType/enum/dispute_reversal
+ /components/schemas/SettlementLineType/enum/program_funding
~ /components/schemas/SettlementLineType/examples/0
+ /components/schemas/PassTemplateUpdatedEvent/required/previous_attributes
+ /components/schemas/PassTemplateUpdatedEvent/properties/previous_attributes
+ /components/schemas/PassUpdatedEvent/required/previous_attributes
+ /components/schemas/PassUpdatedEvent/properties/previous_attributes
+ /components/schemas/CardholderUpdatedEvent/required/previous_attributes
+ /components/schemas/CardholderUpdatedEvent/properties/previous_attributes
+ /components/schemas/CardUpdatedEvent/required/previous_attributes
+ /components/schemas/CardUpdatedEvent/properties/previous_attributes
+ /components/schemas/CardWalletTokenUpdatedEvent/required/previous_attributes
+ /components/schemas/CardWalletTokenUpdatedEvent/properties/previous_attributes
+ /components/schemas/CardTransactionUpdatedEvent/required/previous_attributes
+ /components/schemas/CardTransactionUpdatedEvent/properties/previous_attributes
+ /components/schemas/DisputeUpdatedEvent/required/previous_attributes
+ /components/schemas/DisputeUpdatedEvent/properties/previous_attributes
+ /components/schemas/PayoutUpdatedEvent/required/previous_attributes
+ /components/schemas/PayoutUpdatedEvent/properties/previous_attributes
+ /components/schemas/PassTemplate/properties/app_links
+ /components/schemas/PassTemplate/properties/apple_poster
+ /components/schemas/PassTemplate/properties/associated_store_identifiers
+ /components/schemas/PassTemplate/properties/grouping_identifier
+ /components/schemas/PassTemplate/properties/images
+ /components/schemas/PassTemplate/properties/language
+ /components/schemas/PassTemplate/properties/message_introduction
+ /components/schemas/PassTemplate/properties/nfc
+ /components/schemas/PassTemplate/properties/notify_on_update
+ /components/schemas/PassTemplate/properties/relevant_dates
+ /components/schemas/PassTemplate/properties/rotating_barcode
+ /components/schemas/PassTemplate/properties/semantics
+ /components/schemas/PassTemplate/properties/sharing_prohibited
+ /components/schemas/PassTemplate/properties/smart_tap
+ /components/schemas/PassTemplate/properties/translations
+ /components/schemas/PassTemplateCreate/properties/app_links
+ /components/schemas/PassTemplateCreate/properties/apple_poster
+ /components/schemas/PassTemplateCreate/properties/associated_store_identifiers
+ /components/schemas/PassTemplateCreate/properties/grouping_identifier
+ /components/schemas/PassTemplateCreate/properties/images
+ /components/schemas/PassTemplateCreate/properties/language
+ /components/schemas/PassTemplateCreate/properties/message_introduction
+ /components/schemas/PassTemplateCreate/properties/nfc
+ /components/schemas/PassTemplateCreate/properties/notify_on_update
+ /components/schemas/PassTemplateCreate/properties/relevant_dates
+ /components/schemas/PassTemplateCreate/properties/rotating_barcode
+ /components/schemas/PassTemplateCreate/properties/semantics
+ /components/schemas/PassTemplateCreate/properties/sharing_prohibited
+ /components/schemas/PassTemplateCreate/properties/smart_tap
+ /components/schemas/PassTemplateCreate/properties/translations
+ /components/schemas/PassTemplateUpdate/properties/app_links
+ /components/schemas/PassTemplateUpdate/properties/apple_poster
+ /components/schemas/PassTemplateUpdate/properties/associated_store_identifiers
+ /components/schemas/PassTemplateUpdate/properties/grouping_identifier
+ /components/schemas/PassTemplateUpdate/properties/images
+ /components/schemas/PassTemplateUpdate/properties/language
+ /components/schemas/PassTemplateUpdate/properties/message_introduction
+ /components/schemas/PassTemplateUpdate/properties/nfc
+ /components/schemas/PassTemplateUpdate/properties/notify_on_update
+ /components/schemas/PassTemplateUpdate/properties/relevant_dates
+ /components/schemas/PassTemplateUpdate/properties/rotating_barcode
+ /components/schemas/PassTemplateUpdate/properties/semantics
+ /components/schemas/PassTemplateUpdate/properties/sharing_prohibited
+ /components/schemas/PassTemplateUpdate/properties/smart_tap
+ /components/schemas/PassTemplateUpdate/properties/translations
+ /components/schemas/PassTemplate/properties/warnings
+ /components/schemas/TemplateField/properties/change_message
+ /components/schemas/CardTransaction/properties/shadow_decisions
+ /components/schemas/TemplateField/properties/translations
+ /components/schemas/TemplateFieldInput/properties/change_message
+ /components/schemas/TemplateFieldInput/properties/translations
+ /components/schemas/TreasuryReportType/enum/statement
+ /components/schemas/TreasuryReportType/enum/journal
+ /components/schemas/TreasuryReportFormat/enum/pdf
+ /paths/~1v1~1authorization_endpoint/put/callbacks/authorizationRequest/{$request.body#~1url}/post/x-translated-by
+ /paths/~1v1~1balance/get/parameters/0/name
+ /paths/~1v1~1balance/get/parameters/0/in
+ /paths/~1v1~1balance/get/parameters/0/description
+ /paths/~1v1~1balance/get/parameters/0/schema
+ /paths/~1v1~1balance/get/parameters/0/example
- /paths/~1v1~1balance/get/parameters/0/$ref
+ /paths/~1v1~1balance/get/parameters/1
+ /tags/spending_control_drafts
+ /tags/spending_control_backtests
+ /x-tagGroups/Cards/tags/spending_control_drafts
+ /x-tagGroups/Cards/tags/spending_control_backtests
+ /components/schemas/Pass/properties/messages_opted_out_at
+ /tags/pass_messages
+ /tags/pass_message_batches
+ /x-tagGroups/Passes/tags/pass_messages
+ /x-tagGroups/Passes/tags/pass_message_batches
+ /components/schemas/SpendingControls/properties/allowed_countries
+ /components/schemas/SpendingControls/properties/allowed_merchant_ids
+ /components/schemas/SpendingControls/properties/blocked_merchant_ids
+ /components/schemas/SpendingControls/properties/allowed_merchant_names
+ /components/schemas/SpendingControls/properties/blocked_merchant_names
+ /components/schemas/SpendingControls/properties/allowed_entry_methods
+ /components/schemas/SpendingControls/properties/blocked_entry_methods
+ /components/schemas/SpendingControls/properties/allowed_times
+ /components/schemas/SpendingControls/properties/merchant_limits
+ /components/schemas/SpendingControls/properties/merchant_count_limits
+ /components/schemas/SpendingControls/properties/first_use_abroad
+ /components/schemas/SpendingControls/properties/required_checks
+ /components/schemas/SpendingControls/properties/partial_approval
+ /components/schemas/SpendingControlsInput/properties/allowed_countries
+ /components/schemas/SpendingControlsInput/properties/allowed_merchant_ids
+ /components/schemas/SpendingControlsInput/properties/blocked_merchant_ids
+ /components/schemas/SpendingControlsInput/properties/allowed_merchant_names
+ /components/schemas/SpendingControlsInput/properties/blocked_merchant_names
+ /components/schemas/SpendingControlsInput/properties/allowed_entry_methods
+ /components/schemas/SpendingControlsInput/properties/blocked_entry_methods
+ /components/schemas/SpendingControlsInput/properties/allowed_times
+ /components/schemas/SpendingControlsInput/properties/merchant_limits
+ /components/schemas/SpendingControlsInput/properties/merchant_count_limits
+ /components/schemas/SpendingControlsInput/properties/first_use_abroad
+ /components/schemas/SpendingControlsInput/properties/required_checks
+ /components/schemas/SpendingControlsInput/properties/partial_approval
+ /components/schemas/DeclineReasonCode/enum/merchant_blocked
+ /components/schemas/DeclineReasonCode/enum/entry_method_blocked
+ /components/schemas/DeclineReasonCode/enum/time_blocked
+ /components/schemas/DeclineReasonCode/enum/merchant_limit_exceeded
+ /components/schemas/DeclineReasonCode/enum/merchant_count_exceeded
+ /components/schemas/DeclineReasonCode/enum/first_use_abroad
+ /components/schemas/DeclineReasonCode/enum/check_failed
+ /components/schemas/MerchantInput/properties/network_id
+ /components/schemas/AuthorizationSimulation/properties/checks
+ /components/schemas/AuthorizationSimulation/properties/partial_approval
+ /components/schemas/AuthorizationEndpointPut/properties/default_max_amount
+ /components/schemas/AuthorizationEndpoint/properties/default_max_amount
+ /components/schemas/AuthorizationDecision/properties/stand_in_reason
+ /paths/~1v1~1authorization_decisions/get/parameters/11/name
+ /paths/~1v1~1authorization_decisions/get/parameters/11/in
+ /paths/~1v1~1authorization_decisions/get/parameters/11/description
+ /paths/~1v1~1authorization_decisions/get/parameters/11/schema
+ /paths/~1v1~1authorization_decisions/get/parameters/11/example
+ /paths/~1v1~1authorization_decisions/get/parameters/11/x-filter
- /paths/~1v1~1authorization_decisions/get/parameters/11/$ref
+ /paths/~1v1~1authorization_decisions/get/parameters/12
`,
}

/** The words of the newest document may be improved at any time: older documents are frozen and keep theirs. */
const isWording = (line: string) => /^~ .*(?<!\/properties)\/(?:description|summary|scopes\/\w+)$/.test(line)

/** Examples name one successor in every version: in that version's own document it looks like its date. */
const ofExamplesAlone = /successor_version/

test.each(dates.slice(1).map((date, index) => [date, dates[index]!]))(
  '%s differs from %s in what was announced and in nothing else',
  (date, before) => {
    const found = differences(undated(documentOf(before), before), undated(documentOf(date), date)).filter(
      (line) => !isWholeAddition(line) && !isHeldElsewhere(line) && !ofExamplesAlone.test(line),
    )
    const isNewest = date === dates.at(-1)
    const compared = isNewest ? found.filter((line) => !isWording(line)) : found
    expect(compared.sort()).toEqual(announced[date]!.trim().split('\n').sort())
  },
)

describe('differences', () => {
  test.each([
    [{ a: 1 }, { a: 2 }, ['~ /a']],
    [{ a: 1 }, { a: 1, b: 2 }, ['+ /b']],
    [{ enum: ['x', 'y'] }, { enum: ['y', 'z'] }, ['- /enum/x', '+ /enum/z']],
    [
      { tags: [{ name: 'x', of: 1 }] },
      { tags: [{ name: 'y' }, { name: 'x', of: 2 }] },
      ['~ /tags/x/of', '+ /tags/y'],
    ],
  ])('differences of %j and %j are %j', (before, after, want) => {
    expect(differences(before, after)).toEqual(want)
  })
})
