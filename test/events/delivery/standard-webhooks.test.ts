/** Deliveries with the signatures of Standard Webhooks, verified with its own library, with Node’s crypto and by the client. */
import { createPublicKey, verify } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unwrap } from '../../../generated/client/src/2026-05-19/index.ts'
import { standardHeaders, standardKeys } from '../../../runtime/events/outbound/standard-webhooks.ts'
import { readPublicKeys } from '../../../runtime/events/webhook-endpoints/public-keys.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Received, type Receiver } from './receiver.ts'
import { type Endpoint, HOUR, openStage, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
const tenantId = newId('ten')
beforeAll(async () => {
  stage = await openStage()
  stage.work()
  receiver = await openReceiver()
})
afterAll(async () => {
  receiver.close()
  await stage.close()
})

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const

async function deliver(path: string): Promise<Received> {
  const before = receiver.on(path).length
  await stage.emit(tenantId)
  await until('the delivery', () => receiver.on(path).length > before)
  await stage.drained(tenantId)
  return receiver.on(path).at(-1)!
}

const standardOf = ({ headers }: Received) =>
  Object.fromEntries(names.map((name) => [name, String(headers[name])]))

const keysOf = async ({ id }: Endpoint) =>
  (await readPublicKeys(
    { environment: 'sandbox', database: stage.database.sandbox, seals: stage.seals },
    `${tenantId}/${id}/jwks.json`,
    stage.clock.now,
  ))!.keys

test('the vector of the library’s own tests is signed the same', () => {
  const keys = standardKeys(stage.seals, 'any', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const headers = standardHeaders(
    [keys],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    '{"test": 2432232314}',
    1_614_265_330,
  )
  expect(headers['webhook-signature']!.split(' ')[0]).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('an endpoint that did not ask for them gets the signature of the service alone', async () => {
  await stage.addEndpoint(tenantId, `${receiver.url}/plain`)
  const { headers } = await deliver('/plain')
  expect(headers['service-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
  for (const name of names) expect(headers[name]).toBeUndefined()
})

test('both signatures verify with the library, with the published key and with the client, through a rotation', async () => {
  const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}/both`, ['*'], {
    signature: 'standard_webhooks',
  })
  const first = await deliver('/both')
  const standard = standardOf(first)
  expect(new Webhook(endpoint.secret).verify(first.body, standard)).toEqual(JSON.parse(first.body))
  expect(standard['webhook-id']).toBe(JSON.parse(first.body).id)
  expect(() => new Webhook(endpoint.secret).verify(`${first.body} `, standard)).toThrow()

  const [key] = await keysOf(endpoint)
  const signed = Buffer.from(`${standard['webhook-id']}.${standard['webhook-timestamp']}.${first.body}`)
  const [given] = standard['webhook-signature']!.split(' ').filter((each) => each.startsWith('v1a,'))
  const signature = Buffer.from(given!.slice(4), 'base64')
  const publicKey = createPublicKey({ key: { ...key! }, format: 'jwk' })
  expect(verify(null, signed, publicKey, signature)).toBe(true)
  expect(verify(null, Buffer.from(`${signed} `), publicKey, signature)).toBe(false)

  for (const secret of [endpoint.secret, `whpk_${key!.x}`, ['whsec_other', `whpk_${key!.x}`]]) {
    expect(await unwrap(first.body, standard, secret)).toEqual(JSON.parse(first.body))
  }
  expect(await unwrap(first.body, first.headers, endpoint.secret)).toEqual(JSON.parse(first.body))
  const stranger = `whpk_${Buffer.alloc(32, 9).toString('base64')}`
  for (const wrong of [stranger, 'whpk_AAAA', 'whsec_AAAA']) {
    await expect(unwrap(first.body, standard, wrong)).rejects.toMatchObject({ code: 'no_match' })
  }
  const late = { now: () => Date.now() + 301_000 }
  await expect(unwrap(first.body, standard, `whpk_${key!.x}`, late)).rejects.toMatchObject({
    code: 'timestamp_out_of_tolerance',
  })

  const next = await stage.rotate(endpoint)
  const second = await deliver('/both')
  for (const secret of [endpoint.secret, next]) new Webhook(secret).verify(second.body, standardOf(second))
  const keys = await keysOf(endpoint)
  expect(keys).toHaveLength(2)
  expect(keys[1]).toEqual(key)
  for (const { x } of keys) await unwrap(second.body, standardOf(second), `whpk_${x}`)
  stage.clock.now += 25 * HOUR
  expect(await keysOf(endpoint)).toEqual([keys[0]])
})

test('an endpoint without Ed25519 signatures, and one that does not exist, publish no keys', async () => {
  const plain = await stage.addEndpoint(tenantId, `${receiver.url}/none`)
  const parts = { environment: 'sandbox', database: stage.database.sandbox, seals: stage.seals } as const
  for (const rest of [
    `${tenantId}/${plain.id}/jwks.json`,
    `${tenantId}/${newId('whe')}/jwks.json`,
    `${newId('ten')}/${plain.id}/jwks.json`,
    'jwks.json',
  ]) {
    expect(await readPublicKeys(parts, rest, stage.clock.now)).toBeUndefined()
  }
})
