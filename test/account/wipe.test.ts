/** A wiped sandbox: nobody sees what was in it from the commit on, and workers delete it in steps. */

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { records } from '../../generated/canonical/records.ts'
import { createAccountChanges } from '../../runtime/account/account/changes.ts'
import { wipeWorker } from '../../runtime/account/account/wipe-job.ts'
import {
  CLOSED_TABLES,
  emptySpace,
  WIPED_TABLES,
  wipeSpace,
} from '../../runtime/account/account/wipe-queries.ts'
import type { Database } from '../../runtime/database/database.ts'
import type { Pool } from '../../runtime/database/pool/pool.ts'
import { readRevision } from '../../runtime/database/revision.ts'
import { findDue } from '../../runtime/events/delivery/queries/due.ts'
import { claimAttempts } from '../../runtime/events/delivery/queries/visits.ts'
import { passExpiryWorker } from '../../runtime/passes/passes/expiry-job.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { planAll } from '../support/planning.ts'
import { endPrograms, startService, until } from '../support/programs.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  START,
  speak,
  startTestService,
  type TestService,
  useService,
} from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { type Confirmer, holdMachineClock, type MachineClock, makeConfirmer } from './confirmers.ts'

const service = useService()
/** Another node on the same database; it hears of changes when it is told to forget. */
let other: TestService
let machine: MachineClock
let tenantId: string
let secret: string
let owner: Confirmer
let send: Send
let sendToOther: Send

beforeAll(async () => {
  other = await startTestService({ database: { ...service.database, close: async () => {} } })
  machine = holdMachineClock(service)
  other.clock.machine = service.clock.machine
})
afterAll(async () => {
  await endPrograms()
  await other.stop()
})
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(service, 'standard')
  secret = (await makeKey(service, tenantId, { scope: 'admin' })).secret
  owner = await makeConfirmer(service, machine, tenantId)
  send = speak(service.urls.sandbox, { secret })
  sendToOther = speak(other.urls.sandbox, { secret })
})

const wipe = (steps = 0, through = send, key: string = randomUUID()) =>
  through('/v1/account/wipe_sandbox', {
    body: { confirm: 'wipe' },
    headers: { 'Service-Factor': owner.code(steps), 'Idempotency-Key': key },
  })

const HOOK = { url: 'https://93.184.215.14/hooks', enabled_events: ['*'] }

/** Something of everything. */
async function fill() {
  const endpointId: string = (await send('/v1/webhook-endpoints', { body: HOOK })).body.id
  const templateId = await makeTemplate(send)
  const passId: string = (await issuePass(send, templateId)).id
  const eventId: string = (await send('/v1/events')).body.data[0].id
  const read = { barcode_message: 'of no pass', mode: 'verify' }
  const scanId: string = (await send('/v1/scans', { body: read })).body.id
  return { templateId, passId, endpointId, eventId, scanId }
}

/** Rows of a space in each table that has any. */
async function rowsIn(space: string, control = service.database.control): Promise<Record<string, number>> {
  const counts = await Promise.all(
    [...WIPED_TABLES, ...CLOSED_TABLES, 'wiped_spaces'].map(async (table) => {
      const text = `SELECT count(*) AS count FROM sandbox.${table} WHERE tenant_id = $1`
      const { rows } = await control.query<{ count: number }>({ text }, [space])
      return [table, rows[0]!.count] as const
    }),
  )
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** Straight into the tenant's first space. */
async function issueMany(templateId: string, count: number): Promise<void> {
  const text = `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, fields, page_token, google_url, metadata,
                                            created, updated)
                SELECT $1, 'pass_' || i, $2, 'issued', '{}', i, '', '{}', now(), now() FROM generate_series(1, $3) i`
  await service.database.control.query({ text }, [tenantId, templateId, count])
}

const wiper = (graceMs = 0) =>
  wipeWorker({ database: service.database, clock: service.clock, log: strictLog, batch: 2, graceMs })

/** Records of the card family, which make events of their own. */
async function fillCards() {
  const person = {
    name: 'Ada Moreau',
    date_of_birth: '1990-04-12',
    address: { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' },
  }
  await send('/v1/tokens', { body: { type: 'person', person } })
  const cardholderId: string = (await send('/v1/cardholders', { body: { name: 'Dmitri Volkov' } })).body.id
  return { [`/v1/cardholders/${cardholderId}`]: '/v1/cardholders' }
}

const MONEY_TABLES = [
  ...['card_numbers', 'card_transactions', 'card_spending', 'cards', 'dispute_files', 'disputes'],
  ...['settlement_lines', 'settlements', 'settlement_clocks', 'payout_destinations', 'payout_defaults'],
  ...['payouts', 'chain_transfers', 'treasury_reports'],
  ...['ledger_accounts', 'ledger_entries', 'ledger_holds', 'ledger_resolutions', 'ledger_transactions'],
]

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Rows in each table of cards, settlements and payouts; gives the lists that show them. */
async function fillMoney(): Promise<readonly string[]> {
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await send(path, { body })
    expect([path, answer.text, answer.status < 300]).toEqual([path, answer.text, true])
    return answer.body.id
  }
  const cardholder_id = await make('/v1/cardholders', { name: 'Ada Moreau' })
  const card_id = await make('/v1/cards', { cardholder_id, type: 'virtual' })
  await make('/v1/test/funding', { amount: 100_000 })
  const use = { card_id, amount: 20_000, merchant: { name: 'A', category_code: '5812' } }
  await make('/v1/test/cards/simulate_authorization', use)
  const card_transaction_id = await make('/v1/test/cards/simulate_force_post', use)
  const file = { name: 'receipt.png', content_type: 'image/png', content: PNG }
  const evidence = { explanation: 'Never came', files: [file] }
  const dispute = await make('/v1/disputes', { card_transaction_id, reason: 'other', evidence })
  await make(`/v1/disputes/${dispute}/submit`, {})
  const address = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'
  const destination = { type: 'usdc_address', address, holder_name: 'Harbour Coffee LLC' }
  const destination_id = await make('/v1/payout_destinations', destination)
  await make('/v1/test/settlements/advance_clock', { seconds: 8 * 86_400 })
  await make('/v1/payouts', { amount: 10, currency: 'usdc', destination_id })
  const interval = { interval_start: '2026-05-01T00:00:00Z', interval_end: '2026-06-01T00:00:00Z' }
  await make('/v1/treasury_reports', { type: 'balance_summary', currency: 'usd', ...interval })
  const names = ['cards', 'card_transactions', 'disputes', 'settlements', 'payouts', 'payout_destinations']
  return [...names, 'treasury_reports'].map((name) => `/v1/${name}`)
}

async function expectNothing(
  through: Send,
  made: Awaited<ReturnType<typeof fill>>,
  cards: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const path of [
    '/v1/passes',
    '/v1/pass_templates',
    '/v1/scans',
    '/v1/events',
    '/v1/webhook-endpoints',
    ...Object.values(cards),
  ]) {
    expect([path, (await through(path)).body.data]).toEqual([path, []])
  }
  expect((await through('/v1/passes/count')).body.count).toBe(0)
  for (const path of [
    `/v1/passes/${made.passId}`,
    `/v1/pass_templates/${made.templateId}`,
    `/v1/scans/${made.scanId}`,
    `/v1/events/${made.eventId}`,
    `/v1/webhook-endpoints/${made.endpointId}`,
    `/v1/webhook-endpoints/${made.endpointId}/delivery-attempts`,
    ...Object.keys(cards),
  ]) {
    expect([path, (await through(path)).status]).toEqual([path, 404])
  }
}

describe('from the commit on', () => {
  test('no list, read or count of any node shows what is still to be deleted', async () => {
    const made = await fill()
    const cards = await fillCards()
    await planAll(service.database.sandbox)
    await sendToOther('/v1/me')
    const { deleted } = (await wipe()).body
    expect(deleted).toMatchObject({
      webhook_endpoint: 1,
      webhook_delivery_attempt: 3,
      event: 3,
      sanctions_alert: 1,
      cardholder: 1,
      token: 1,
      scan: 1,
      pass: 1,
      pass_template: 1,
    })
    // Every other record of the document, but for what live alone has and the log that is no record.
    const counted = [
      'token',
      ...Object.values(records).flatMap((each) => ('read' in each ? each.object : [])),
    ]
    const apart = ['promotion', 'request_log', 'sandbox', 'sandbox_snapshot']
    expect(Object.keys(deleted).toSorted()).toEqual(
      counted.filter((each) => !apart.includes(each)).toSorted(),
    )
    expect(Object.values<number>(deleted).filter((count) => count > 0)).toHaveLength(9)
    await expectNothing(send, made, cards)
    other.forget()
    await expectNothing(sendToOther, made, cards)
    expect(await rowsIn(tenantId)).toMatchObject({ passes: 1, events: 3, wiped_spaces: 1 })
  })

  test('from the commit of a wipe on, cards, settlements and payouts are gone', async () => {
    const lists = await fillMoney()
    const filled = Object.keys(await rowsIn(tenantId))
    const { deleted } = (await wipe()).body
    expect(deleted).toMatchObject({ card: 1, card_transaction: 2, dispute: 1, settlement: 1 })
    expect(deleted).toMatchObject({ payout: 1, payout_destination: 1, treasury_report: 1 })
    for (const path of lists) expect([path, (await send(path)).body.data]).toEqual([path, []])
    const balance = (await send('/v1/balance')).body
    expect([balance.available, balance.held, balance.payable]).toEqual([0, 0, 0])
    await wiper().runOnce()
    expect(await rowsIn(tenantId)).toEqual({})
    expect(filled).toEqual(expect.arrayContaining(MONEY_TABLES))
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('a wipe counts records up to a bound: its number means that many or more', async () => {
    await issuePass(send, (await fill()).templateId)
    const { control, pepper } = service.database
    const { transaction } = createAccountChanges(control, pepper, 'sandbox', service.clock).forTenant(
      tenantId,
    )
    const { deleted } = await transaction((db) => wipeSpace(db, tenantId, service.clock.machine(), 1))
    expect(deleted).toMatchObject({ pass: 1, pass_template: 1, webhook_delivery_attempt: 0 })
  })

  test('a repeated request finds no answer of before', async () => {
    const { templateId } = await fill()
    const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': randomUUID() } }
    expect((await send('/v1/passes', call)).status).toBe(201)
    await wipe()
    const again = await send('/v1/passes', call)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([422, null])
  })

  test('a node that has missed a wipe writes where the data is now, and its chain continues', async () => {
    const { passId, templateId } = await fill()
    await sendToOther('/v1/me')
    const key = randomUUID()
    const first = await wipe(0, send, key)
    expect((await sendToOther('/v1/passes', { body: { template_id: templateId } })).status).toBe(422)
    other.forget()
    await sendToOther('/v1/me')
    machine.toNewCodes()
    await wipe()
    const made = await makeTemplate(sendToOther)
    expect((await send('/v1/pass_templates')).body.data.map(({ id }: { id: string }) => id)).toEqual([made])
    const call = { method: 'PATCH', body: { metadata: { a: '1' } } }
    expect((await sendToOther(`/v1/passes/${passId}`, call)).status).toBe(404)
    expect(first.status).toBe(200)
    expect(await rowsIn(tenantId)).toMatchObject({ passes: 1, pass_templates: 1 })
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('a wipe repeated through a node that has missed it is the same wipe', async () => {
    await fill()
    await sendToOther('/v1/me')
    const key = randomUUID()
    const first = await wipe(0, send, key)
    await makeTemplate(send)
    const again = await wipe(1, sendToOther, key)
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
    expect((await send('/v1/pass_templates')).body.data).toHaveLength(1)
  })

  test('the second of two concurrent wipes counts what came after the first', async () => {
    const second = await makeConfirmer(service, machine, tenantId)
    await fill()
    const answers = await Promise.all([
      wipe(),
      sendToOther('/v1/account/wipe_sandbox', {
        body: { confirm: 'wipe' },
        headers: { 'Service-Factor': second.code() },
      }),
    ])
    expect(answers.map(({ body }) => body.deleted.pass).toSorted()).toEqual([0, 1])
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('a stream that is open goes on with what comes, in the same sequence', async () => {
    await fill()
    const closing = new AbortController()
    const response = await fetch(`${service.urls.sandbox}/v1/events/stream`, {
      headers: { Authorization: `Bearer ${secret}` },
      signal: closing.signal,
    })
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
    })().catch(() => {}) // closed by the test
    await until('the stream to begin', () => text !== '')
    await wipe()
    await makeTemplate(send)
    await until('the event', () => text.includes('event: pass_template.created'))
    closing.abort()
    await reading
    expect(text.match(/^event: /gm)).toHaveLength(1)
    const { rows } = await service.database.control.query(
      { text: 'SELECT tenant_id, sequence FROM sandbox.events WHERE tenant_id LIKE $1 ORDER BY sequence' },
      [`${tenantId}%`],
    )
    expect(rows).toEqual([
      { tenant_id: tenantId, sequence: 1 },
      { tenant_id: tenantId, sequence: 2 },
      { tenant_id: `${tenantId}.1`, sequence: 3 },
    ])
  })

  test('nothing of it is delivered any more, what comes is, under the same allowance', async () => {
    await fill()
    const bucket = { text: 'UPDATE sandbox.webhook_senders SET tokens = 3 WHERE tenant_id = $1' }
    await service.database.control.query(bucket, [tenantId])
    const senders = async () => {
      const text = 'SELECT tenant_id, tokens, planned FROM sandbox.webhook_senders WHERE tenant_id LIKE $1'
      return (await service.database.control.query({ text }, [`${tenantId}%`])).rows
    }
    await wipe()
    // Two events came before it, which nothing plans deliveries for any more.
    expect(await senders()).toEqual([{ tenant_id: `${tenantId}.1`, tokens: 3, planned: 2 }])
    await send('/v1/webhook-endpoints', { body: HOOK })
    await makeTemplate(send)
    const now = Date.now()
    await planAll(service.database.sandbox)
    const tenants = (await findDue(service.database.sandbox, now)).map(({ tenant_id }) => tenant_id)
    const claims = tenants.map((tenant) =>
      claimAttempts(service.database.sandbox, {
        ...{ of: 'one', tenants: [tenant], now, leaseUntil: now + 60_000, token: randomUUID(), limit: 1000 },
        ...{ allowance: 1000, allowances: {} },
      }),
    )
    const claimed = (await Promise.all(claims)).flatMap(({ rows }) => rows)
    const mine = claimed.filter(({ tenant_id }) => tenant_id.startsWith(tenantId))
    expect(mine).toMatchObject([{ tenant_id: `${tenantId}.1`, wanted: true }])
    expect(await senders()).toMatchObject([{ tenant_id: `${tenantId}.1` }])
  })

  test('nothing of it expires any more', async () => {
    const expires_at = new Date(START + 60_000).toISOString()
    await send('/v1/passes', { body: { template_id: await makeTemplate(send), expires_at } })
    await wipe()
    service.clock.now = START + 120_000
    const { database, clock } = service
    const wakeUpChannel = { publish: () => {} }
    const passTokens = openPassTokens(database.pepper)
    const baseUrls = { ...service.urls, console: '' }
    await passExpiryWorker({ database, clock, baseUrls, passTokens, wakeUpChannel, log: strictLog }).runOnce()
    const { rows } = await database.control.query(
      { text: `SELECT 1 FROM sandbox.audit_log WHERE tenant_id = $1 AND action = 'pass.expired'` },
      [tenantId],
    )
    expect(rows).toEqual([])
  })
})

describe('workers', () => {
  test('delete it in steps; what is new, and what is of others, stays', async () => {
    const stranger = await makeTenant(service)
    const theirs = speak(service.urls.sandbox, { secret: (await makeKey(service, stranger)).secret })
    await issuePass(theirs, await makeTemplate(theirs))
    const kept = await rowsIn(stranger)
    const { templateId } = await fill()
    for (let made = 0; made < 5; made += 1) await issuePass(send, templateId)
    await wipe()
    const made = await fill()
    const present = await rowsIn(`${tenantId}.1`)
    await wiper().runOnce()
    expect(await rowsIn(tenantId)).toEqual({})
    expect(await rowsIn(`${tenantId}.1`)).toEqual(present)
    expect(await rowsIn(stranger)).toEqual(kept)
    expect((await send(`/v1/passes/${made.passId}`)).status).toBe(200)
  })

  test('workers that wipe go on where one of them ended, and leave a space that another is at', async () => {
    const { templateId } = await fill()
    for (let made = 0; made < 5; made += 1) await issuePass(send, templateId)
    await wipe()
    let steps = 0
    const after = async () => {
      steps += 1
      return steps < 12
    }
    expect(await emptySpace(service.database.sandbox, tenantId, 2, true, after)).toBe(false)
    const left = await rowsIn(tenantId)
    expect(left).not.toEqual({ wiped_spaces: 1 })
    await service.database.sandbox.transaction(async (tx) => {
      await tx.query({ text: 'SELECT FROM wiped_spaces WHERE tenant_id = $1 FOR UPDATE' }, [tenantId])
      await wiper().runOnce()
      expect(await rowsIn(tenantId)).toEqual(left)
    })
    await wiper().runOnce()
    expect(await rowsIn(tenantId)).toEqual({})
  })

  test('workers that wipe read pages for what they delete in a step, and none for what is gone already', async () => {
    const [BATCH, PASSES, TEMPLATES] = [500, 20_000, 100]
    const templateId = await makeTemplate(send)
    await issueMany(templateId, PASSES)
    const { control, sandbox } = service.database
    await control.query(
      {
        text: `INSERT INTO sandbox.pass_templates
               SELECT (jsonb_populate_record(t, jsonb_build_object('id', t.id || i))).*
                 FROM sandbox.pass_templates t, generate_series(1, $2) i WHERE t.tenant_id = $1`,
      },
      [tenantId, TEMPLATES],
    )
    await wipe()
    /** Of tables, and their indexes, that have to do with passes, as far as the connection counts them. */
    const countPages = async (tx: Database) => {
      const text = `SELECT sum(pg_stat_get_xact_blocks_fetched(c.oid))::int AS count FROM pg_class c
                     WHERE c.relnamespace = 'sandbox'::regnamespace AND c.relname ~ '^pass(es|_templates)(_|$)'`
      return (await tx.query<{ count: number }>({ text })).rows[0]!.count
    }
    const pages: number[] = []
    const counting = {
      query: sandbox.query.bind(sandbox),
      transaction: (work: (tx: Database) => Promise<unknown>) =>
        sandbox.transaction(async (tx) => {
          const before = await countPages(tx)
          const outcome = await work(tx)
          pages.push((await countPages(tx)) - before)
          return outcome
        }),
    } as Pool
    const half = async () => ((await rowsIn(tenantId)).passes ?? 0) > PASSES / 2
    expect(await emptySpace(counting, tenantId, BATCH, true, half)).toBe(false)
    expect(await emptySpace(counting, tenantId, BATCH, true, async () => true)).toBe(true)
    expect(await rowsIn(tenantId)).toEqual({ wiped_spaces: 1 })
    expect(pages.length).toBeGreaterThan(PASSES / BATCH)
    // About one for each row that it deletes, and a few for indexes.
    expect(Math.max(...pages)).toBeLessThan(2 * BATCH)
  })

  test('workers that wipe are told to stop, and do so after the step that they are at', async () => {
    const { templateId } = await fill()
    for (let made = 0; made < 5; made += 1) await issuePass(send, templateId)
    await wipe()
    const stopped = wiper()
    await Promise.all([stopped.runOnce(), stopped.stop()])
    expect((await rowsIn(tenantId)).passes).toBe(6)
    await issueMany(templateId, 400)
    const { database, clock } = service
    const worker = wipeWorker({ database, clock, log: strictLog, batch: 1, graceMs: 0 })
    worker.start()
    await until('some to be deleted', async () => ((await rowsIn(tenantId)).passes ?? 0) < 406)
    await worker.stop()
    const { passes } = await rowsIn(tenantId)
    expect(passes).toBeGreaterThan(0)
    await wiper().runOnce()
    expect(await rowsIn(tenantId)).toEqual({})
  })

  test('tell other nodes of a wipe, once: who wiped may have been killed before', async () => {
    const { control } = service.database
    const before = await readRevision(control)
    await wipe()
    await until('the node to tell', async () => (await readRevision(control)) === before + 1)
    const worker = wiper(60_000)
    for (let look = 0; look < 3; look += 1) await worker.runOnce()
    expect(await readRevision(control)).toBe(before + 2)
  })

  test('rest as long as each of their steps has taken', async () => {
    const STEP_MS = 20
    let steps = 0
    const query = async () => ({ rows: [], count: 1 })
    const transaction = async (work: (tx: Database) => Promise<unknown>) => {
      steps += 1
      await setTimeout(STEP_MS)
      return work({ query } as Database)
    }
    const spaces = async () => ({ rows: [{ tenant_id: 'ten_1', wiped_at: 0 }], count: 1 })
    const sandbox = { query: spaces, transaction } as unknown as Pool
    const began = performance.now()
    const database = { control: { query } as Database, sandbox }
    await wipeWorker({ database, clock: service.clock, log: strictLog }).runOnce()
    expect(steps).toBe(WIPED_TABLES.length)
    // Timers may be early by a millisecond.
    expect(performance.now() - began).toBeGreaterThan(steps * 2 * (STEP_MS - 1))
  })

  test('delete two wiped spaces of a tenant, and what attempts under way write when these have ended', async () => {
    await fill()
    await planAll(service.database.sandbox)
    await wipe()
    await fill()
    expect((await wipe(1)).body.deleted.pass).toBe(1)
    for (let look = 0; look < 2; look += 1) await wiper(60_000).runOnce()
    expect([await rowsIn(tenantId), await rowsIn(`${tenantId}.1`)]).toEqual([
      { webhook_attempts: 2, webhook_ready: 2, wiped_spaces: 1 },
      { wiped_spaces: 1 },
    ])
    machine.now += 60_000
    await wiper(60_000).runOnce()
    expect([await rowsIn(tenantId), await rowsIn(`${tenantId}.1`)]).toEqual([{}, {}])
  })

  test('workers that wipe that are killed are followed by others', async () => {
    const { templateId } = await fill()
    const { control, url, pepper } = service.database
    await issueMany(templateId, 40_000)
    const desk = createAccountChanges(control, pepper, 'sandbox', service.clock)
    const holder = {
      tenant: { id: tenantId } as never,
      space: tenantId,
      key: { id: '', kind: 'secret', scope: 'admin' } as const,
      now: START,
      moved: () => {},
      changed: () => {},
    }
    await desk.forTenant(tenantId).transaction((db) => desk.bind(db, holder).wipeSandbox())
    const start = () =>
      startService({ DATABASE_URL: url, SVC_PEPPER: pepper }, ['--json', '--role', 'worker'])
    const remaining = async () => (await rowsIn(tenantId)).passes ?? 0
    const first = start()
    await until('a part to be deleted', async () => (await remaining()) < 40_001, 30_000)
    await first.end('SIGKILL')
    expect(await remaining()).toBeGreaterThan(0)
    start()
    await until('all to be deleted', async () => (await remaining()) === 0, 30_000)
  })
})
