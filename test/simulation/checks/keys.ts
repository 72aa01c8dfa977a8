/** Stored answers to requests with a key: each is stored for a day, and none for much longer. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface AnswerRow {
  readonly key: string
  readonly status: number
  readonly created: number
}

const HOUR_MS = 3_600_000

/** An answer may be replayed for this time. It is deleted an hour later, by a job that runs every hour and can be late. */
const STORED_MS = 24 * HOUR_MS
const DELETED_MS = STORED_MS + 16 * HOUR_MS

/** Refusals that a repeated request gets again. */
const STORED_REFUSALS = [404, 409, 422]

export async function answersAreStored(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ['sandbox', 'live'] as const) {
    const rows = await rowsOf<AnswerRow>(evidence, environment, merchant, 'idempotency_answers', 'key')
    const stored = new Map(rows.map(({ key, status }) => [key, status]))
    const old = rows.find(({ created }) => created < evidence.now - DELETED_MS - evidence.lateMs)
    if (old) fail(`an answer is stored since ${new Date(old.created).toISOString()}`)
    for (const [key, { at, status }] of merchant[environment].answered) {
      if (at < evidence.now - STORED_MS) continue
      const isStored = status < 300 || STORED_REFUSALS.includes(status)
      mustEqual(
        stored.get(key),
        isStored ? status : undefined,
        `what is stored of an answer ${status} to ${merchant.name}`,
      )
    }
  }
}
