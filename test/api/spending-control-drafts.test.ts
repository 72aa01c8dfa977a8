/** Requests for spending_control_drafts, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTenant, type Send, startTestService, type TestService } from '../support/service.ts'
import { refusal, speakFor } from './fixtures.ts'

let service: TestService
let send: Send

beforeAll(async () => {
  service = await startTestService()
  send = await speakFor(service, await makeTenant(service))
})
afterAll(() => service.stop())

const INPUT = {
  name: 'Lower limits for meals',
  spending_controls: { spending_limits: [{ amount: 20000, interval: 'monthly', categories: ['5812'] }] },
}

test('a record is made, read and listed', async () => {
  const made = await send('/v1/spending_control_drafts', { body: INPUT })
  expect([made.status, made.body]).toEqual([201, expect.objectContaining(INPUT)])
  expect((await send(`/v1/spending_control_drafts/${made.body.id}`)).body).toEqual(made.body)
  expect((await send('/v1/spending_control_drafts')).body.data).toContainEqual(made.body)
})

test('a record that is not there is not found', async () => {
  const answer = await send('/v1/spending_control_drafts/scd_00000000000000000000000000')
  expect(refusal(answer)).toEqual([404, 'not_found', 'not_found'])
})

test('a record is changed', async () => {
  const { id } = (await send('/v1/spending_control_drafts', { body: INPUT })).body
  const input = { spending_controls: { max_authorization_count: 50 } }
  const changed = await send(`/v1/spending_control_drafts/${id}`, { method: 'PATCH', body: input })
  expect([changed.status, changed.body]).toEqual([200, expect.objectContaining(input)])
})
