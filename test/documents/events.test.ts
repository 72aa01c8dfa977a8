import { describe, expect, test } from 'vitest'
import {
  at,
  dates,
  documentOf,
  isNode,
  join,
  type Node,
  parametersOf,
  resolve,
  webhooksOf,
} from './documents.ts'

/** Every event type: the first version that has it, the member of `data`, and that member's schema. */
const table = `
2025-06-01 pass_template.created pass_template PassTemplate
2025-06-01 pass_template.updated pass_template PassTemplate
2025-06-01 pass_template.archived pass_template PassTemplate
2025-06-01 pass.created pass Pass
2025-06-01 pass.updated pass Pass
2025-06-01 pass.installed pass PassOnPlatform
2025-06-01 pass.uninstalled pass PassOnPlatform
2025-06-01 pass.scanned scan Scan
2025-06-01 pass.redeemed pass Pass
2025-06-01 pass.revoked pass Pass
2025-06-01 pass.expired pass Pass
2025-06-01 pass.archived pass Pass
2025-06-01 webhook_endpoint.disabled webhook_endpoint WebhookEndpoint
2026-05-19 webhook_endpoint.blocked webhook_endpoint WebhookEndpoint
2026-05-19 webhook_endpoint.unblocked webhook_endpoint WebhookEndpoint
2025-06-01 webhook_endpoint.test webhook_endpoint WebhookEndpoint
2026-05-19 webhook_recovery.completed webhook_recovery WebhookRecovery
2026-05-19 sandbox.created sandbox Sandbox
2026-05-19 sandbox.restored sandbox Sandbox
2026-05-19 sandbox.deleted sandbox Sandbox
2026-05-19 sandbox_snapshot.completed sandbox_snapshot SandboxSnapshot
2025-06-01 promotion.created promotion PromotedResource
2025-11-01 cardholder.created cardholder Cardholder
2025-11-01 cardholder.updated cardholder Cardholder
2026-05-19 cardholder.sanctions.alert sanctions_alert SanctionsAlert
2026-05-19 cardholder.sanctions.resolved sanctions_alert SanctionsAlert
2025-11-01 card.created card Card
2025-11-01 card.updated card Card
2025-11-01 card.shipped card Card
2025-11-01 card.delivered card Card
2025-11-01 card.canceled card Card
2025-11-01 card.wallet_token.created wallet_token WalletToken
2025-11-01 card.wallet_token.updated wallet_token WalletToken
2025-11-01 card.transaction.authorized card_transaction CardTransaction
2025-11-01 card.transaction.declined card_transaction CardTransaction
2025-11-01 card.transaction.updated card_transaction CardTransaction
2025-11-01 card.transaction.reversed card_transaction CardTransaction
2025-11-01 card.transaction.expired card_transaction CardTransaction
2025-11-01 card.transaction.cleared card_transaction CardTransaction
2025-11-01 card.transaction.refunded card_transaction CardTransaction
2026-02-01 authorization_decision.timed_out authorization_decision AuthorizationDecision
2026-02-01 authorization_decision.errored authorization_decision AuthorizationDecision
2025-11-01 dispute.created dispute Dispute
2025-11-01 dispute.updated dispute Dispute
2025-11-01 dispute.submitted dispute Dispute
2025-11-01 dispute.funds_reinstated dispute Dispute
2025-11-01 dispute.funds_rescinded dispute Dispute
2025-11-01 dispute.closed dispute Dispute
2025-11-01 settlement.created settlement Settlement
2025-11-01 settlement.pending settlement Settlement
2025-11-01 settlement.processing settlement Settlement
2025-11-01 settlement.settled settlement Settlement
2025-11-01 settlement.failed settlement Settlement
2025-11-01 payout.created payout Payout
2025-11-01 payout.updated payout Payout
2025-11-01 payout.paid payout Payout
2025-11-01 payout.failed payout Payout
2025-11-01 payout.canceled payout Payout
2025-11-01 payout.returned payout Payout
2025-11-01 payout_destination.created payout_destination PayoutDestination
2025-11-01 payout_destination.activated payout_destination PayoutDestination
2025-11-01 payout_destination.denied payout_destination PayoutDestination
2025-11-01 payout_destination.disabled payout_destination PayoutDestination
2025-11-01 treasury_report.succeeded treasury_report TreasuryReport
2025-11-01 treasury_report.failed treasury_report TreasuryReport
2026-05-19 balance.low balance_alert BalanceAlert
2026-05-19 spending_control_draft.created spending_control_draft SpendingControlDraft
2026-05-19 spending_control_draft.shadow_started spending_control_draft SpendingControlDraft
2026-05-19 spending_control_draft.shadow_ended spending_control_draft SpendingControlDraft
2026-05-19 spending_control_draft.promoted spending_control_draft SpendingControlDraft
2026-05-19 spending_control_draft.rolled_back spending_control_draft SpendingControlDraft
2026-05-19 spending_control_backtest.succeeded spending_control_backtest SpendingControlBacktest
2026-05-19 spending_control_backtest.failed spending_control_backtest SpendingControlBacktest
2026-05-19 pass_message.sent pass_message PassMessage
2026-05-19 pass_message.skipped pass_message PassMessage
2026-05-19 pass_message_batch.completed pass_message_batch PassMessageBatch
`

const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [since: string, type: string, member: string, schema: string])

describe.each(dates)('%s', (date) => {
  const document = documentOf(date)
  const want = rows.filter(([since]) => since <= date)
  const hooks = webhooksOf(document)
  const payloads = hooks.map((hook) => {
    const pointer = join(hook.pointer, 'requestBody', 'content', 'application/json', 'schema')
    return { type: hook.path, node: resolve(document, { pointer, node: at(document, pointer) as Node }).node }
  })

  test('the document tells of exactly the events of the table, with their object in data', () => {
    const found = payloads.map(({ type, node }) => {
      const data = at(node, '/properties/data') as Node
      const [member, ...others] = Object.keys(data.properties as Node)
      expect(others).toEqual([])
      const schema = String(at(data, `/properties/${member}/$ref`))
        .split('/')
        .at(-1)
      return [type, member, schema].join(' ')
    })
    expect(found.toSorted()).toEqual(want.map(([, ...row]) => row.join(' ')).toSorted())
  })

  test('lists the same types for filters and subscriptions', () => {
    const types = hooks.map(({ path }) => path)
    expect(at(document, '/components/schemas/EventType/enum')).toEqual(types)
    expect(at(document, '/components/schemas/EnabledEvent/enum')).toEqual(['*', ...types])
  })

  test('the document names each payload by its type', () => {
    const found = payloads.filter(({ type, node }) => at(node, '/properties/type/const') !== type)
    expect(found.map(({ type }) => type)).toEqual([])
  })

  test('the document shows previous_attributes on every *.updated from 2026-05-19 on, and nowhere else', () => {
    const found = payloads.filter(({ node }) => isNode(at(node, '/properties/previous_attributes')))
    const updated = want.map(([, type]) => type).filter((type) => type.endsWith('.updated'))
    expect(found.map(({ type }) => type).toSorted()).toEqual(date < '2026-05-19' ? [] : updated.toSorted())
  })

  test('the document signs every delivery in the header of its version', () => {
    const signature = date < '2026-02-01' ? 'X-Service-Signature' : 'Service-Signature'
    const headers = hooks.map((hook) =>
      parametersOf(document, hook)
        .map(({ node }) => `${node.name} ${node.required}`)
        .join(', '),
    )
    expect([...new Set(headers)]).toEqual([
      `${signature} true, Service-Event-Id true, Service-Delivery-Attempt true`,
    ])
  })
})
