/**
 * Every operation of the API, one a line: the first version that has it, method, path, plain scope, OAuth
 * scope (`-` when any token will do), bucket, status of success, and then what else holds of it. `list` is
 * a paged list; `filters=` names its equality filters and flags.
 */
export const table = `
2025-06-01 GET    /v1/me any - read 200
2025-06-01 GET    /v1/audit_log admin admin read 200 list filters=actor_id,action,target_id
2026-05-19 GET    /v1/request_logs admin admin read 200 list filters=request_id,status,method,path,operation,key_id
2026-05-19 GET    /v1/request_logs/{request_id} admin admin read 200
2025-06-01 PATCH  /v1/account/billing admin admin account_write 200 factor
2025-06-01 POST   /v1/account/rotate_credentials admin admin account_write 200 factor
2025-06-01 POST   /v1/account/wipe_sandbox admin admin account_write 200 factor sandbox
2025-06-01 POST   /v1/promotions admin admin account_write 201 live
2025-06-01 GET    /v1/promotions admin admin read 200 live list
2025-06-01 GET    /v1/promotions/{promotion_id} admin admin read 200 live

2025-06-01 POST   /v1/pass_templates write pass:write templates_write 201
2025-06-01 GET    /v1/pass_templates read pass:read read 200 publishable list filters=kind,status
2025-06-01 GET    /v1/pass_templates/{template_id} read pass:read read 200 publishable
2025-06-01 PATCH  /v1/pass_templates/{template_id} write pass:write templates_write 200
2025-06-01 POST   /v1/pass_templates/{template_id}/archive write pass:write templates_write 200
2025-06-01 POST   /v1/passes write pass:write passes_write 201
2025-06-01 GET    /v1/passes read pass:read read 200 list filters=status,template_id,include_archived
2025-06-01 GET    /v1/passes/{pass_id} read pass:read read 200
2025-06-01 GET    /v1/passes/count read pass:read passes_count 200 filters=status,template_id,include_archived
2025-06-01 PATCH  /v1/passes/{pass_id} write pass:write passes_write 200
2025-06-01 POST   /v1/passes/{pass_id}/revoke write pass:write passes_write 200
2025-06-01 POST   /v1/passes/{pass_id}/archive write pass:write passes_write 200
2026-02-01 POST   /v1/passes/batch write pass:write passes_write 200
2026-02-01 POST   /v1/passes/batch_update write pass:write passes_write 200
2026-02-01 POST   /v1/passes/batch_revoke write pass:write passes_write 200
2025-06-01 POST   /v1/scans write pass:write passes_write 201
2025-06-01 GET    /v1/scans read pass:read read 200 list filters=pass_id,result
2025-06-01 GET    /v1/scans/{scan_id} read pass:read read 200
2025-06-01 POST   /v1/test/passes/simulate_scan write pass:write passes_write 201 sandbox
2025-06-01 POST   /v1/test/passes/simulate_install write pass:write passes_write 200 sandbox
2025-06-01 POST   /v1/test/passes/simulate_uninstall write pass:write passes_write 200 sandbox

2025-06-01 POST   /v1/webhook-endpoints write write webhooks_write 201
2025-06-01 GET    /v1/webhook-endpoints read read read 200 list filters=status
2025-06-01 GET    /v1/webhook-endpoints/{whe_id} read read read 200
2025-06-01 PATCH  /v1/webhook-endpoints/{whe_id} write write webhooks_write 200
2025-06-01 DELETE /v1/webhook-endpoints/{whe_id} write write webhooks_write 200
2025-06-01 POST   /v1/webhook-endpoints/{whe_id}/rotate_secret write write webhooks_write 200
2025-06-01 POST   /v1/webhook-endpoints/{whe_id}/test write write webhooks_write 201
2026-05-19 POST   /v1/webhook-endpoints/{whe_id}/skip write write webhooks_write 200
2026-05-19 POST   /v1/webhook-endpoints/{whe_id}/recover write write webhooks_write 201
2026-05-19 GET    /v1/webhook-endpoints/{whe_id}/recoveries read read read 200 list filters=status
2026-05-19 GET    /v1/webhook-endpoints/{whe_id}/recoveries/{whr_id} read read read 200
2026-05-19 POST   /v1/webhook-endpoints/{whe_id}/recoveries/{whr_id}/cancel write write webhooks_write 200
2025-06-01 GET    /v1/webhook-endpoints/{whe_id}/delivery-attempts read read read 200 list filters=status,event_id
2026-05-19 GET    /v1/webhook-endpoints/{whe_id}/delivery-attempts read read read 200 list filters=status,event_id,outcome
2025-06-01 GET    /v1/webhook-endpoints/{whe_id}/delivery-attempts/{wdla_id} read read read 200
2025-06-01 POST   /v1/webhook-endpoints/{whe_id}/delivery-attempts/{wdla_id}/retry write write webhooks_write 202
2025-06-01 GET    /v1/events read read read 200 list filters=type
2025-06-01 GET    /v1/events/{event_id} read read read 200
2025-06-01 GET    /v1/events/stream read read read 200 sandbox

2025-11-01 POST   /v1/tokens write card:write cards_write 201 publishable verified
2025-11-01 POST   /v1/cardholders write card:write cards_write 201 verified
2025-11-01 GET    /v1/cardholders read card:read read 200 list filters=status,type
2025-11-01 GET    /v1/cardholders/{cardholder_id} read card:read read 200
2025-11-01 PATCH  /v1/cardholders/{cardholder_id} write card:write cards_write 200 verified
2025-11-01 POST   /v1/cardholders/{cardholder_id}/screen write card:write cards_write 200 verified
2025-11-01 GET    /v1/sanctions_alerts read card:read read 200 list filters=status,cardholder_id
2025-11-01 GET    /v1/sanctions_alerts/{sanctions_alert_id} read card:read read 200
2025-11-01 POST   /v1/sanctions_alerts/{sanctions_alert_id}/resolve write card:write cards_write 200 verified
2025-11-01 POST   /v1/card_programs write card:write cards_write 201 verified
2025-11-01 GET    /v1/card_programs read card:read read 200 list
2025-11-01 GET    /v1/card_programs/{card_program_id} read card:read read 200
2025-11-01 PATCH  /v1/card_programs/{card_program_id} write card:write cards_write 200 verified
2025-11-01 GET    /v1/balance read card:read read 200
2026-05-19 GET    /v1/balance read card:read read 200 filters=at
2026-05-19 GET    /v1/balance_entries read card:read read 200 list filters=account,kind,source_id
2026-05-19 GET    /v1/balance_alert read card:read read 200
2026-05-19 PUT    /v1/balance_alert write card:write cards_write 200
2025-11-01 POST   /v1/cards write card:write cards_write 201 verified
2025-11-01 GET    /v1/cards read card:read read 200 list filters=status,type,cardholder_id
2025-11-01 GET    /v1/cards/{card_id} read card:read read 200
2025-11-01 PATCH  /v1/cards/{card_id} write card:write cards_write 200 verified
2025-11-01 POST   /v1/cards/{card_id}/activate write card:write cards_write 200 verified
2025-11-01 POST   /v1/cards/{card_id}/freeze write card:write cards_write 200 verified
2025-11-01 POST   /v1/cards/{card_id}/unfreeze write card:write cards_write 200 verified
2025-11-01 POST   /v1/cards/{card_id}/cancel write card:write cards_write 200 verified
2025-11-01 POST   /v1/cards/{card_id}/replace write card:write cards_write 201 verified
2025-11-01 GET    /v1/cards/{card_id}/details admin admin read 200
2025-11-01 POST   /v1/cards/{card_id}/provisioning_payloads write card:write cards_write 201 verified
2025-11-01 GET    /v1/cards/{card_id}/provisioning_payloads read card:read read 200 list
2025-11-01 GET    /v1/cards/{card_id}/provisioning_payloads/{provisioning_payload_id} read card:read read 200
2025-11-01 GET    /v1/wallet_tokens read card:read read 200 list filters=card_id
2025-11-01 GET    /v1/wallet_tokens/{wallet_token_id} read card:read read 200
2025-11-01 PATCH  /v1/wallet_tokens/{wallet_token_id} write card:write cards_write 200 verified
2025-11-01 GET    /v1/card_transactions read card:read read 200 list filters=card_id,cardholder_id,status,type,category_code
2025-11-01 GET    /v1/card_transactions/{card_transaction_id} read card:read read 200
2025-11-01 PATCH  /v1/card_transactions/{card_transaction_id} write card:write cards_write 200 verified
2025-11-01 POST   /v1/card_transactions/{card_transaction_id}/release write card:write cards_write 200 verified
2025-11-01 POST   /v1/disputes write card:write cards_write 201 verified
2025-11-01 GET    /v1/disputes read card:read read 200 list filters=status,reason,card_transaction_id
2025-11-01 GET    /v1/disputes/{dispute_id} read card:read read 200
2025-11-01 PATCH  /v1/disputes/{dispute_id} write card:write cards_write 200 verified
2025-11-01 POST   /v1/disputes/{dispute_id}/submit write card:write cards_write 200 verified
2025-11-01 POST   /v1/disputes/{dispute_id}/withdraw write card:write cards_write 200 verified
2025-11-01 GET    /v1/merchant_categories read card:read read 200
2026-02-01 GET    /v1/authorization_endpoint read card:read read 200 plan=enterprise
2026-02-01 PUT    /v1/authorization_endpoint admin admin cards_write 200 plan=enterprise verified
2026-02-01 DELETE /v1/authorization_endpoint admin admin cards_write 200 plan=enterprise verified
2026-02-01 POST   /v1/authorization_endpoint/rotate_secret admin admin cards_write 200 plan=enterprise verified
2026-02-01 GET    /v1/authorization_decisions read card:read read 200 plan=enterprise list filters=status,card_transaction_id
2026-02-01 GET    /v1/authorization_decisions/{authorization_decision_id} read card:read read 200 plan=enterprise
2025-11-01 POST   /v1/test/cards/simulate_authorization write card:write cards_write 201 sandbox
2025-11-01 POST   /v1/test/cards/simulate_decline write card:write cards_write 201 sandbox
2025-11-01 POST   /v1/test/cards/simulate_increment write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cards/simulate_reversal write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cards/simulate_expiry write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cards/simulate_clearing write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cards/simulate_refund write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cards/simulate_force_post write card:write cards_write 201 sandbox
2025-11-01 POST   /v1/test/cards/simulate_shipping write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/cardholders/simulate_sanctions_match write card:write cards_write 201 sandbox
2025-11-01 POST   /v1/test/disputes/simulate_outcome write card:write cards_write 200 sandbox
2025-11-01 POST   /v1/test/funding write card:write cards_write 200 sandbox

2025-11-01 GET    /v1/settlements read settlement:read read 200 list filters=status
2025-11-01 GET    /v1/settlements/{settlement_id} read settlement:read read 200
2025-11-01 GET    /v1/settlements/{settlement_id}/lines read settlement:read read 200 list filters=type,source_id
2025-11-01 GET    /v1/payouts read settlement:read read 200 list filters=status,destination_id,settlement_id
2025-11-01 GET    /v1/payouts/{payout_id} read settlement:read read 200
2026-05-19 POST   /v1/payouts write settlement:write settlements_write 201 verified
2026-05-19 POST   /v1/payouts/{payout_id}/cancel write settlement:write settlements_write 200 verified
2025-11-01 POST   /v1/payout_destinations write settlement:write settlements_write 201 verified
2025-11-01 GET    /v1/payout_destinations read settlement:read read 200 list filters=status,type
2025-11-01 GET    /v1/payout_destinations/{payout_destination_id} read settlement:read read 200
2025-11-01 PATCH  /v1/payout_destinations/{payout_destination_id} write settlement:write settlements_write 200 verified
2025-11-01 POST   /v1/payout_destinations/{payout_destination_id}/disable write settlement:write settlements_write 200 verified
2025-11-01 POST   /v1/treasury_reports write settlement:write settlements_write 201 verified
2025-11-01 GET    /v1/treasury_reports read settlement:read read 200 list
2025-11-01 GET    /v1/treasury_reports/{treasury_report_id} read settlement:read read 200
2025-11-01 POST   /v1/test/settlements/advance_clock write settlement:write settlements_write 200 sandbox
2025-11-01 POST   /v1/test/settlements/simulate_failure write settlement:write settlements_write 200 sandbox
2025-11-01 POST   /v1/test/payouts/simulate_failure write settlement:write settlements_write 200 sandbox
2025-11-01 POST   /v1/test/payouts/simulate_return write settlement:write settlements_write 200 sandbox
2026-05-19 POST   /v1/spending_control_drafts write card:write cards_write 201 verified
2026-05-19 GET    /v1/spending_control_drafts read card:read read 200 list filters=status
2026-05-19 GET    /v1/spending_control_drafts/{spending_control_draft_id} read card:read read 200
2026-05-19 PATCH  /v1/spending_control_drafts/{spending_control_draft_id} write card:write cards_write 200 verified
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/archive write card:write cards_write 200 verified
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/shadow write card:write cards_write 200 verified
2026-05-19 GET    /v1/spending_control_drafts/{spending_control_draft_id}/shadow read card:read read 200
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/end_shadow write card:write cards_write 200 verified
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/promote write card:write cards_write 200 factor verified
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/roll_back write card:write cards_write 200 factor verified
2026-05-19 GET    /v1/spending_control_drafts/{spending_control_draft_id}/versions read card:read read 200 list
2026-05-19 POST   /v1/spending_control_drafts/{spending_control_draft_id}/backtests write card:write cards_write 201 verified
2026-05-19 GET    /v1/spending_control_backtests read card:read read 200 list filters=spending_control_draft_id
2026-05-19 GET    /v1/spending_control_backtests/{spending_control_backtest_id} read card:read read 200
2026-05-19 GET    /v1/spending_control_backtests/{spending_control_backtest_id}/flips read card:read read 200 list filters=change
2026-05-19 POST   /v1/test/spending_control_backtests/simulate_failure write card:write cards_write 200 sandbox
2026-05-19 GET    /v1/spending_control_drafts/{spending_control_draft_id}/flips read card:read read 200 list filters=change
2026-05-19 GET    /v1/test/faults read read read 200 sandbox
2026-05-19 PUT    /v1/test/faults admin admin account_write 200 sandbox
2026-05-19 DELETE /v1/test/faults admin admin account_write 200 sandbox
2026-05-19 GET    /v1/authorization_decisions read card:read read 200 plan=enterprise list filters=status,card_transaction_id,stand_in_reason
2026-05-19 POST   /v1/passes/{pass_id}/messages write pass:write passes_write 201
2026-05-19 GET    /v1/pass_messages read pass:read read 200 list filters=pass_id,pass_message_batch_id,status
2026-05-19 GET    /v1/pass_messages/{pass_message_id} read pass:read read 200
2026-05-19 POST   /v1/pass_message_batches write pass:write passes_write 201
2026-05-19 GET    /v1/pass_message_batches read pass:read read 200 list filters=status
2026-05-19 GET    /v1/pass_message_batches/{pass_message_batch_id} read pass:read read 200
2026-05-19 POST   /v1/pass_message_batches/{pass_message_batch_id}/cancel write pass:write passes_write 200
2026-05-19 POST   /v1/sandboxes admin admin account_write 201 sandbox
2026-05-19 GET    /v1/sandboxes admin admin read 200 sandbox list
2026-05-19 GET    /v1/sandboxes/{sandbox_id} admin admin read 200 sandbox
2026-05-19 PATCH  /v1/sandboxes/{sandbox_id} admin admin account_write 200 sandbox
2026-05-19 DELETE /v1/sandboxes/{sandbox_id} admin admin account_write 200 sandbox
2026-05-19 POST   /v1/sandboxes/{sandbox_id}/keys admin admin account_write 201 sandbox
2026-05-19 POST   /v1/sandboxes/{sandbox_id}/snapshots admin admin account_write 201 sandbox
2026-05-19 GET    /v1/sandboxes/{sandbox_id}/snapshots admin admin read 200 sandbox list
2026-05-19 GET    /v1/sandboxes/{sandbox_id}/snapshots/{snapshot_id} admin admin read 200 sandbox
2026-05-19 DELETE /v1/sandboxes/{sandbox_id}/snapshots/{snapshot_id} admin admin account_write 200 sandbox
2026-05-19 POST   /v1/sandboxes/{sandbox_id}/snapshots/{snapshot_id}/restore admin admin account_write 200 sandbox
`

export interface Row {
  readonly since: string
  readonly method: string
  readonly path: string
  /** The line without `since`, in one spelling: what the document is compared with. */
  readonly text: string
}

export const rows: readonly Row[] = table
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [since, method, path, ...rest] = line.split(/ +/) as [string, string, string, ...string[]]
    return { since, method, path, text: [method, path, ...rest].join(' ') }
  })
