/** What documents say that the audit log and the stored answers rely on. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { actionOf } from '../../runtime/api/audit-actions.ts'
import { SECRET_MEMBERS } from '../../runtime/api/idempotency.ts'

test.each([
  ['revokePass', 'pass.revoked'],
  ['createPassTemplate', 'pass_template.created'],
  ['updateBilling', 'billing.updated'],
  ['rotateCredentials', 'credentials.rotated'],
  ['wipeSandbox', 'sandbox.wiped'],
  ['freezeCard', 'card.frozen'],
  ['submitDispute', 'dispute.submitted'],
  ['putAuthorizationEndpoint', 'authorization_endpoint.set'],
  ['rotateWebhookEndpointSecret', 'webhook_endpoint_secret.rotated'],
  ['retryDeliveryAttempt', 'delivery_attempt.retried'],
])('%s is told as %s', (operation, action) => {
  expect(actionOf(operation)).toBe(action)
})

test('every write of every version has an action of its own', () => {
  for (const { operations } of versions) {
    const actions = operations.filter(({ method }) => method !== 'GET').map(({ id }) => actionOf(id))
    expect(new Set(actions).size).toBe(actions.length)
    for (const action of actions) expect(action).toMatch(/^[a-z]+(_[a-z]+)*\.([a-z]+(ed|en|wn)|set)$/)
  }
})

type Node = { readonly [name: string]: unknown }

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

test('no answer to a POST has a secret under a name that is not sealed', () => {
  const suspicious = /secret|password|private|credential|cvc|^(number|pin|otp)$/
  const found = versions.flatMap(({ name }) => {
    const file = new URL(`../../generated/${name}/openapi.json`, import.meta.url)
    const document = JSON.parse(readFileSync(file, 'utf8')) as Node
    return Object.entries(document.paths as Node).flatMap(([path, item]) => {
      const { responses = {} } = ((item as Node).post ?? {}) as { responses?: Node }
      return Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, response]) => [...propertiesOf(document, response)])
        .filter((property) => suspicious.test(property))
        .map((property) => `${path} ${property}`)
    })
  })
  expect(found.length).toBeGreaterThan(0)
  expect(found.filter((each) => !SECRET_MEMBERS.some((name) => each.endsWith(` ${name}`)))).toEqual([])
})
