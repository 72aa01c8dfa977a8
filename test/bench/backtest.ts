/**
 * `npm run bench:backtest`: a card program's controls are tried on a year of recorded authorizations through the API of a
 * service: drafts are backtested, one is run in shadow, and promoted by a member with a second factor. Prints how long each
 * backtest takes from its request to its result, the processor time of the service and of PostgreSQL, and the differences.
 *
 * Options: --authorizations N (1000000).
 */
import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { Secret, TOTP } from 'otpauth'
import pg from 'pg'
import { until } from '../support/programs.ts'
import { ACTIVE, CARDS, COLUMNS, cardId, FROM, record, TO } from './backtest-record.ts'
import { type DemoService, startDemoService } from './demo-service.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({ options: { authorizations: { type: 'string', default: '1000000' } } })
const authorizations = Number(options.authorizations)

/** Whoever spends more than this in a day is declined. */
const STRICTER_DAY = 8000
const STRICTER = {
  ...ACTIVE,
  spending_limits: [
    { amount: 60_000, interval: 'monthly' },
    { amount: STRICTER_DAY, interval: 'daily' },
  ],
}
const DRAFTS = '/v1/spending_control_drafts'
const PATIENCE_MS = 600_000

/** A time of a day at which the active controls allow authorizations. */
const NOON_IN_NEW_YORK = '2026-06-01T16:00:00Z'

/** Makes a program with cards, one of which can be used, and writes the record of all. Returns both identifiers. */
async function fill(db: pg.Client, { call, tenantId }: DemoService, { directory }: Scratch) {
  const { body: program } = await call('/v1/card_programs', {
    name: 'Fuel',
    kind: 'virtual',
    spending_controls: ACTIVE,
  })
  const { body: holder } = await call('/v1/cardholders', { name: 'Ada Moreau' })
  const { body: card } = await call('/v1/cards', {
    ...{ cardholder_id: holder.id, card_program_id: program.id, type: 'virtual' },
  })
  await call('/v1/test/funding', { amount: 10_000_000 })
  await db.query(
    `INSERT INTO sandbox.cards
     SELECT made.* FROM sandbox.cards c, unnest($2::text[]) AS copy,
            jsonb_populate_record(c, jsonb_build_object('id', copy)) AS made WHERE c.id = $1`,
    [card.id, Array.from({ length: CARDS }, (_, index) => cardId(index))],
  )
  const file = join(directory, 'transactions')
  await pipeline(Readable.from(record(tenantId, authorizations)), createWriteStream(file, { mode: 0o644 }))
  await db.query(`COPY sandbox.card_transactions (${COLUMNS}) FROM '${file}'`)
  await db.query('VACUUM (ANALYZE) sandbox.card_transactions')
  return { program: program.id as string, card: card.id as string }
}

await withScratch(async (scratch) => {
  const service = await startDemoService(scratch, { SVC_CLOCK: NOON_IN_NEW_YORK })
  const { call, pid, url, totpSecret } = service
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  scratch.atEnd(() => db.end())
  const { program, card } = await fill(db, service, scratch)
  const session: number = (await db.query(SESSION)).rows[0].pid

  const draft = async (name: string, spending_controls: object) => {
    const { body } = await call(DRAFTS, { name, card_program_id: program, spending_controls })
    return `${DRAFTS}/${body.id}`
  }
  const backtest = async (path: string, name: string) => {
    const [began, ours, theirs] = [performance.now(), processorSeconds(pid), serverSeconds(session)]
    const { body: started } = await call(`${path}/backtests`, {
      interval_start: new Date(FROM).toISOString(),
      interval_end: new Date(TO).toISOString(),
    })
    const ended = async () => {
      const { body } = await call(`/v1/spending_control_backtests/${started.id}`)
      return ['succeeded', 'failed'].includes(body.status) && body
    }
    const { status, result } = await until(`the backtest of ${name}`, ended, PATIENCE_MS)
    const seconds = (performance.now() - began) / 1000
    const used = [processorSeconds(pid) - ours, serverSeconds(session) - theirs]
    assert.equal(status, 'succeeded')
    const { evaluated, approved_to_declined, declined_to_approved } = result
    console.log(
      `${name.padEnd(9)} ${seconds.toFixed(1)} s; processor time: ${used[0]!.toFixed(1)} s of the service, ${used[1]!.toFixed(1)} s of PostgreSQL; ` +
        `${evaluated.count} evaluated, differences: ${approved_to_declined.count} declined, ${declined_to_approved.count} approved`,
    )
  }
  const authorize = async (name: string) => {
    const merchant = { name, category_code: '5812', country: 'US' }
    const asked = { card_id: card, amount: STRICTER_DAY + 1, merchant }
    return (await call('/v1/test/cards/simulate_authorization', asked)).body
  }

  console.log(`${authorizations} authorizations`)
  await backtest(await draft('Active', ACTIVE), 'active')
  await backtest(await draft('None', {}), 'none')
  const stricter = await draft('Stricter', STRICTER)
  await backtest(stricter, 'stricter')

  await call(`${stricter}/shadow`, {})
  const { status, shadow_decisions } = await authorize('Harbor Diner')
  const [{ outcome, rule }] = shadow_decisions
  console.log(`shadow    an authorization is ${status}, and the draft ${outcome} by ${rule}`)
  assert.deepEqual([status, outcome], ['authorized', 'would_decline'])
  const factor = new TOTP({ secret: Secret.fromBase32(totpSecret) })
  await call(`${stricter}/promote`, {}, { 'service-factor': factor.generate() })
  const { status: after, decline_reason } = await authorize('Corner Café')
  console.log(`promoted  the next authorization is ${after}: ${decline_reason.code}`)
  assert.deepEqual([after, decline_reason.code], ['declined', 'spending_limit_exceeded'])
})
