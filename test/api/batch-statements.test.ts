/** What a batch asks of the database: each kind of statement once, however many passes it is about. */
import { expect, test } from 'vitest'
import { plainText, type Recorder, recordStatements } from '../isolation/recorder.ts'
import { openTestDatabase } from '../support/database.ts'
import { makeTenant, type Send, useService } from '../support/service.ts'
import { makeTemplate, NO_PASS, speakFor } from './fixtures.ts'

let recorder: Recorder
const service = useService(async () => {
  recorder = recordStatements(await openTestDatabase({ poolSize: 4 }))
  return { database: recorder.database, guarded: false }
})

/** What is sent for the request, in its order; but for what the tenant's key costs a node that is new to it. */
async function statementsOf(send: Send, path: string, body: object, succeeding: number): Promise<string[]> {
  const first = recorder.recorded.length
  const answer = await send(path, { body })
  const { results } = answer.body
  expect(results.filter(({ status }: { status: string }) => status === 'succeeded')).toHaveLength(succeeding)
  return recorder.recorded
    .slice(first)
    .map(({ statement }) => statement.name ?? plainText({ statement }).slice(0, 60))
}

test.each([
  ['in the sandbox', 'sandbox', 'enterprise'],
  ['in live', 'live', 'enterprise'],
  ['on trial', 'live', 'trial'],
] as const)('a batch sends each kind of statement once %s', async (_, environment, plan) => {
  const send = await speakFor(service, await makeTenant(service, plan), environment)
  const templates = [await makeTemplate(send), await makeTemplate(send, { kind: 'coupon' })]
  const orders = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ template_id: templates[at % templates.length] }))
  const make = async (count: number): Promise<string[]> => {
    const { body } = await send('/v1/passes/batch', { body: { passes: orders(count) } })
    return body.results.map((each: { pass: { id: string } }) => each.pass.id)
  }
  const ids = await make(100)
  const updates = (some: readonly string[]) => some.map((id, at) => ({ id, metadata: { at: String(at) } }))
  for (const [path, few, many] of [
    ['/v1/passes/batch', { passes: orders(2) }, { passes: orders(100) }],
    ['/v1/passes/batch_update', { updates: updates(ids.slice(0, 2)) }, { updates: updates(ids) }],
    [
      '/v1/passes/batch_revoke',
      { ids: [...ids.slice(0, 2), NO_PASS] },
      { ids: [...ids.slice(2), ...Array(900).fill(NO_PASS)] },
    ],
  ] as const) {
    const one = await statementsOf(send, path, few, 2)
    const all = await statementsOf(send, path, many, path.endsWith('revoke') ? 98 : 100)
    expect([path, all]).toEqual([path, one])
    expect([path, new Set(all).size]).toEqual([path, all.length])
  }
})
