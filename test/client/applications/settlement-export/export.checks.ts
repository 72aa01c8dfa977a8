import assert from 'node:assert/strict'
import test from 'node:test'
import type { Schemas } from '@dateline/passes/2025-11-01'
import { contest, exportLines, feesOf, open } from './export.ts'

const line = (type: Schemas['SettlementLineType'], amount: number): Schemas['SettlementLine'] => ({
  id: 'sln_1',
  object: 'settlement_line',
  settlement_id: 'stl_1',
  type,
  amount,
  currency: 'usd',
  source_id: null,
  ledger_entry_id: 'le_1',
  created: '2026-05-01T00:00:00.000Z',
})

const lines = [
  line('cardTransaction', 1200),
  line('cardRefund', -300),
  line('networkFee', 25),
  line('later', 1),
]

/** Answers like the service, and remembers what it was asked. */
function serve() {
  const asked: { url: string; version: string | null; body: string }[] = []
  const client = open(async (input, init) => {
    const request = new Request(input, init)
    const body = await request.text()
    asked.push({ url: request.url, version: request.headers.get('Service-Version'), body })
    const answer = request.url.includes('/disputes')
      ? JSON.parse(body)
      : request.url.includes('/lines')
        ? { data: lines, has_more: false, next_cursor: null }
        : { lines }
    return Response.json(answer, { status: request.method === 'POST' ? 201 : 200 })
  })
  return { client, asked }
}

test('each line has its account, also one whose type is newer', async () => {
  assert.deepEqual(await exportLines(serve().client, 'stl_1'), [
    '4000;1200;out',
    '4010;-300;back',
    '6100;25;out',
    '9999;1;out',
  ])
})

test('fees are filtered by the service and summed', async () => {
  const { client, asked } = serve()
  assert.equal(await feesOf(client, 'stl_1'), 25)
  assert.equal(new URL(asked[0]!.url).searchParams.get('type'), lines[2]!.type)
})

test('a dispute is opened in the version that the program is written for', async () => {
  const { client, asked } = serve()
  assert.equal(await contest(client, 'ctx_1'), true)
  assert.equal(asked[0]!.version, process.env.EXPECTED_VERSION)
})
