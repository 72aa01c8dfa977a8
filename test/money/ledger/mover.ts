/** A process that moves money and places and ends holds, many at once, until it is killed. */

import { randomUUID } from 'node:crypto'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { pipelined } from '../../../runtime/database/pipelined.ts'
import { type Hold, type Posting, post } from '../../../runtime/money/ledger/post.ts'

const { TEST_DATABASE = '', TEST_PEPPER = '', TEST_TENANT = '' } = process.env
const database = await openDatabase({
  ...{ databaseUrl: TEST_DATABASE, pepper: TEST_PEPPER, dataDir: '/nowhere' },
  ...{ poolSize: 6, preparedStatements: true },
})
const placed: Hold[] = []

function choose(): Posting {
  const amount = 1 + Math.floor(Math.random() * 500)
  const kind = Math.random()
  if (kind < 0.3) return { transfer: { from: 'bank', to: 'program_funds', amount } }
  if (kind < 0.5) return { transfer: { from: 'interchange_revenue', to: 'settlement_payable', amount } }
  const resolved = kind < 0.8 ? placed.pop() : undefined
  if (resolved) {
    return { resolved, transfer: { from: 'program_funds', to: 'network_clearing', amount: resolved.amount } }
  }
  return { placed: { id: randomUUID(), amount } }
}

/** The time is that of the request, and a transaction can wait before it posts, so entries are out of order. */
async function move(): Promise<never> {
  for (;;) {
    const now = Date.now()
    const posting = choose()
    await database.sandbox.transaction(async (tx) => {
      if (Math.random() < 0.3) await tx.query({ text: 'SELECT 1' })
      pipelined(post(tx, TEST_TENANT, `ctx_${randomUUID()}/1`, posting, now))
    })
    if (posting.placed) placed.push(posting.placed)
  }
}

// Holds need an account.
const transfer = { from: 'bank', to: 'program_funds', amount: 1 } as const
await database.sandbox.transaction(async (tx) =>
  pipelined(post(tx, TEST_TENANT, `len_${randomUUID()}`, { transfer }, Date.now())),
)
process.stdout.write('{"ready":true}\n')
await Promise.all(Array.from({ length: 12 }, move))
