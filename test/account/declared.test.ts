/** What the newest document declares for every version: names in the audit log, operations of the account, secrets. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'

const ACTIONS = new Map([
  ['updateBilling', 'billing.updated'],
  ['rotateCredentials', 'credentials.rotated'],
  ['wipeSandbox', 'sandbox.wiped'],
  ['createSandbox', 'sandbox.created'],
  ['createSandboxKey', 'sandbox_key.created'],
  ['updateSandbox', 'sandbox.updated'],
  ['deleteSandbox', 'sandbox.deleted'],
  ['createSandboxSnapshot', 'sandbox_snapshot.created'],
  ['deleteSandboxSnapshot', 'sandbox_snapshot.deleted'],
  ['restoreSandboxSnapshot', 'sandbox_snapshot.restored'],
  ['putFaults', 'faults.set'],
  ['deleteFaults', 'faults.deleted'],
  ['createPromotion', 'promotion.created'],
  ['createPassTemplate', 'pass_template.created'],
  ['updatePassTemplate', 'pass_template.updated'],
  ['archivePassTemplate', 'pass_template.archived'],
  ['createPass', 'pass.created'],
  ['updatePass', 'pass.updated'],
  ['revokePass', 'pass.revoked'],
  ['archivePass', 'pass.archived'],
  ['createScan', 'scan.created'],
  ['createWebhookEndpoint', 'webhook_endpoint.created'],
  ['updateWebhookEndpoint', 'webhook_endpoint.updated'],
  ['deleteWebhookEndpoint', 'webhook_endpoint.deleted'],
  ['rotateWebhookEndpointSecret', 'webhook_endpoint_secret.rotated'],
  ['testWebhookEndpoint', 'webhook_endpoint.tested'],
  ['skipBlockedEvent', 'webhook_endpoint.skipped'],
  ['recoverWebhookEndpoint', 'webhook_recovery.created'],
  ['cancelWebhookRecovery', 'webhook_recovery.canceled'],
  ['retryDeliveryAttempt', 'delivery_attempt.retried'],
  ['simulateScan', 'scan.simulated'],
  ['simulateInstall', 'install.simulated'],
  ['simulateUninstall', 'uninstall.simulated'],
  ['createToken', 'token.created'],
  ['createCardholder', 'cardholder.created'],
  ['updateCardholder', 'cardholder.updated'],
  ['screenCardholder', 'cardholder.screened'],
  ['resolveSanctionsAlert', 'sanctions_alert.resolved'],
  ['createCardProgram', 'card_program.created'],
  ['updateCardProgram', 'card_program.updated'],
  ['createCard', 'card.created'],
  ['updateCard', 'card.updated'],
  ['activateCard', 'card.activated'],
  ['freezeCard', 'card.frozen'],
  ['unfreezeCard', 'card.unfrozen'],
  ['cancelCard', 'card.canceled'],
  ['replaceCard', 'card.replaced'],
  ['getCardDetails', 'card_details.viewed'],
  ['createProvisioningPayload', 'provisioning_payload.created'],
  ['updateWalletToken', 'wallet_token.updated'],
  ['updateCardTransaction', 'card_transaction.updated'],
  ['releaseCardTransaction', 'card_transaction.released'],
  ['createDispute', 'dispute.created'],
  ['updateDispute', 'dispute.updated'],
  ['submitDispute', 'dispute.submitted'],
  ['withdrawDispute', 'dispute.withdrawn'],
  ['createPayoutDestination', 'payout_destination.created'],
  ['updatePayoutDestination', 'payout_destination.updated'],
  ['disablePayoutDestination', 'payout_destination.disabled'],
  ['createTreasuryReport', 'treasury_report.created'],
  ['simulateAuthorization', 'authorization.simulated'],
  ['simulateDecline', 'decline.simulated'],
  ['simulateIncrement', 'increment.simulated'],
  ['simulateReversal', 'reversal.simulated'],
  ['simulateExpiry', 'expiry.simulated'],
  ['simulateClearing', 'clearing.simulated'],
  ['simulateRefund', 'refund.simulated'],
  ['simulateForcePost', 'force_post.simulated'],
  ['simulateShipping', 'shipping.simulated'],
  ['simulateSanctionsMatch', 'sanctions_match.simulated'],
  ['simulateDisputeOutcome', 'dispute_outcome.simulated'],
  ['simulateFunding', 'funding.simulated'],
  ['simulateSpendingControlBacktestFailure', 'spending_control_backtest_failure.simulated'],
  ['advanceSettlementClock', 'settlement_clock.advanced'],
  ['simulateSettlementFailure', 'settlement_failure.simulated'],
  ['simulatePayoutFailure', 'payout_failure.simulated'],
  ['simulatePayoutReturn', 'payout_return.simulated'],
  ['createPassBatch', 'pass_batch.created'],
  ['updatePassBatch', 'pass_batch.updated'],
  ['revokePassBatch', 'pass_batch.revoked'],
  ['putBalanceAlert', 'balance_alert.set'],
  ['putAuthorizationEndpoint', 'authorization_endpoint.set'],
  ['deleteAuthorizationEndpoint', 'authorization_endpoint.deleted'],
  ['rotateAuthorizationEndpointSecret', 'authorization_endpoint_secret.rotated'],
  ['createPayout', 'payout.created'],
  ['cancelPayout', 'payout.canceled'],
  ['createSpendingControlDraft', 'spending_control_draft.created'],
  ['updateSpendingControlDraft', 'spending_control_draft.updated'],
  ['createSpendingControlBacktest', 'spending_control_backtest.created'],
  ['archiveSpendingControlDraft', 'spending_control_draft.archived'],
  ['createPassMessage', 'pass_message.created'],
  ['createPassMessageBatch', 'pass_message_batch.created'],
  ['cancelPassMessageBatch', 'pass_message_batch.canceled'],
  ['startSpendingControlShadow', 'spending_control_shadow.started'],
  ['endSpendingControlShadow', 'spending_control_shadow.ended'],
  ['promoteSpendingControlDraft', 'spending_control_draft.promoted'],
  ['rollBackSpendingControlDraft', 'spending_control_draft.reverted'],
])

const operations = versions.flatMap(({ name, operations }) =>
  operations.map((operation) => ({ version: name, ...operation })),
)

test('audited writes have names that never change, in every version', () => {
  const wrong = operations.filter(({ id, extensions }) => extensions.auditAction !== ACTIONS.get(id))
  expect(wrong.map(({ version, id }) => `${version} ${id}`)).toEqual([])
  expect(new Set(ACTIONS.values()).size).toBe(ACTIONS.size)
})

test('the operations of the account are the same in every version, and the newest adds those of faults and sandboxes', () => {
  const everywhere = ['rotateCredentials environment', 'updateBilling whole', 'wipeSandbox environment']
  const added = ['createSandbox', 'createSandboxKey', 'deleteFaults', 'deleteSandbox', 'putFaults'].map(
    (id) => `${id} environment`,
  )
  for (const { name, operations } of versions) {
    const found = operations.flatMap(({ id, extensions: { account } }) =>
      account ? [`${id} ${account}`] : [],
    )
    expect([name, found.sort()]).toEqual([
      name,
      name === '2026-05-19' ? [...added, ...everywhere] : everywhere,
    ])
  }
})

type Node = { readonly [name: string]: unknown }

function readDocument(version: string): Node {
  const file = new URL(`../../generated/${version}/openapi.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Node
}

/** Names of all properties that a value of the schema may have. */
function* propertiesOf(document: Node, schema: unknown, seen = new Set<unknown>()): Generator<string> {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return
  seen.add(schema)
  const { $ref: reference } = schema as Node
  if (typeof reference === 'string') {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, step) => (node as Node)[step], document)
    yield* propertiesOf(document, target, seen)
  }
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties') yield* Object.keys(value as Node)
    yield* propertiesOf(document, value, seen)
  }
}

test('an operation whose success has a secret, by its name, is declared sensitive', () => {
  const suspicious = /secret|password|private|credential|cvc|^(number|pin|otp)$/
  const documents = new Map(versions.map(({ name }) => [name, readDocument(name)]))
  const found = operations.filter(({ version, method, path }) => {
    const document = documents.get(version)!
    const item = (document.paths as Node)[path] as Node
    const { responses = {} } = item[method.toLowerCase()] as { responses?: Node }
    return Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .some(([, response]) => [...propertiesOf(document, response)].some((name) => suspicious.test(name)))
  })
  expect(found.length).toBeGreaterThan(0)
  expect(
    found.flatMap(({ version, id, extensions }) => (extensions.sensitive ? [] : [`${version} ${id}`])),
  ).toEqual([])
})
