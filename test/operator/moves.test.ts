/** A tenant that leaves an installation with everything it has: by a move, and by an export that a different one imports. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { openAbandoned } from '../../runtime/operator/moves/abandoned.ts'
import { forgetTenant } from '../../runtime/operator/moves/arrival.ts'
import { exportTenant } from '../../runtime/operator/moves/export.ts'
import { importTenant } from '../../runtime/operator/moves/import.ts'
import { type MoveStep, moveTenant } from '../../runtime/operator/moves/move.ts'
import { beginAtSource, fence, leave, unfence, whileFenced } from '../../runtime/operator/moves/source.ts'
import { listMovedTables } from '../../runtime/operator/moves/tables.ts'
import { claimSpace } from '../../runtime/passes/wallets/sync/google/queries.ts'
import { ENVIRONMENTS, type Environment } from '../../runtime/platform/environment.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { change } from '../../runtime/tenants/admin/change.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { isSpaceWiped } from '../../runtime/tenants/audit/queries.ts'
import { fill, openSandbox, readSpace } from '../account/sandbox-contents.ts'
import { TEMPLATE } from '../api/fixtures.ts'
import { makeCard } from '../cards/fixtures.ts'
import { openTestNetwork } from '../cards/network/open-network.ts'
import { issueToken } from '../support/access-tokens.ts'
import { makePayable } from '../support/payable.ts'
import { until } from '../support/programs.ts'
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

const service = useService()

test('an account with a sandbox moves to a different installation, and returns in an export', async () => {
  const tenantId = await makeTenant(service, 'standard')
  const { secret: admin } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret: admin, version: current })
  const target = await startTestService()
  const folder = join(mkdtempSync(join(tmpdir(), 'svc-move-')), 'export')
  try {
    const one = await openSandbox(send, service.urls.sandbox)
    const { pass, card, use, key } = await fill(one.send)
    const details = (await one.send(`/v1/cards/${card.id}/details`)).body
    const [here, there] = [service, target].map(({ operator, database }) => ({ operator, database }))
    const before = await readSpace(service.database.control, `${tenantId}.s1`)
    await expect(exportTenant(here!, tenantId, exporting(folder, false))).resolves.toMatchObject({
      closed: false,
    })
    expect(leftOut(folder)).toEqual([])
    await expect(importTenant(there!, folder)).rejects.toThrow('the export has no secrets')
    rmSync(folder, { recursive: true })

    const moved = await moveTenant(here!, there!, tenantId, {
      hint: 'https://b.example',
      maxPauseMs: 20_000,
      say: () => {},
    })
    expect(moved.rows).toBeGreaterThan(20)
    service.forget()
    target.forget()
    const refused = await one.send('/v1/passes')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(refused.body.error.message).toBe(
      'The account has moved to https://b.example. Send requests there.',
    )
    // Also for writes that have passed the check before the move.
    const write = { tenantId, action: 'tenant.verified', targetId: tenantId }
    await expect(change(service.operator, async (_, note) => note(write))).rejects.toSatisfy(isSpaceWiped)

    const secret = one.secret
    const by = speak(target.urls.sandbox, { secret, version: current })
    const headers = { 'Idempotency-Key': key }
    const repeated = await by('/v1/passes', { body: { template_id: pass.template_id }, headers })
    expect(repeated.body.id).toBe(pass.id)
    expect((await by(`/v1/cards/${card.id}/details`)).body).toEqual(details)
    expect((await by('/v1/test/cards/simulate_authorization', { body: use })).body.status).toBe('authorized')
    await verifyAudit(target.operator, tenantId, 'sandbox')

    await exportTenant(there!, tenantId, exporting(folder, true))
    const again = moveTenant(there!, here!, tenantId, { maxPauseMs: 20_000, say: () => {} })
    await expect(again).rejects.toThrow('has left this installation for a different target')
    await importTenant(here!, folder)
    service.forget()
    target.forget()
    expect((await by('/v1/passes')).status).toBe(503)
    expect((await one.send(`/v1/cards/${card.id}/details`)).body).toEqual(details)
    await verifyAudit(service.operator, tenantId, 'sandbox')
    expect(Object.keys(await readSpace(service.database.control, `${tenantId}.s1`))).toEqual(
      Object.keys(before),
    )
    await expect(importTenant(here!, folder)).rejects.toThrow('already has the tenant')
    await expect(forgetTenant(service.operator, tenantId)).rejects.toThrow('has not moved away')
    await forgetTenant(target.operator, tenantId)
    const text = 'SELECT FROM sandbox.passes WHERE starts_with(tenant_id, $1)'
    expect((await target.database.control.query({ text }, [tenantId])).count).toBe(0)
  } finally {
    rmSync(dirname(folder), { recursive: true })
    await target.stop()
  }
})

/** Uses a card in each environment, as the card network does. Returns what the network is answered. */
async function useCards(by: Readonly<Record<Environment, Send>>) {
  const numbers = {} as Record<Environment, string>
  for (const environment of ENVIRONMENTS) {
    const { id } = await makeCard(by[environment])
    numbers[environment] = (await by[environment](`/v1/cards/${id}/details`)).body.number
  }
  return (at: TestService, transaction: string) =>
    Promise.all(
      ENVIRONMENTS.map((environment) =>
        openTestNetwork(at, environment)('authorize', {
          ...{ message_id: transaction, transaction_id: transaction, card_number: numbers[environment] },
          ...{ sent_at: new Date(START).toISOString(), amount: 500, currency: 'usd' },
          merchant: { name: 'Harbor Diner', category_code: '5812', country: 'US' },
        }),
      ),
    )
}

const ADDRESS = `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`

test('a move closes what reaches the source, and everything continues at the target', async () => {
  const tenantId = await makeTenant(service, 'enterprise')
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret, version: current })
  const email = 'owner@moves.example'
  const { id: memberId } = await createUser(service.operator, { tenantId, email, role: 'owner' })
  const token = await issueToken(service.database, { tenantId, memberId }, 'sandbox')
  const target = await startTestService()
  const [here, there] = [service, target].map(({ operator, database }) => ({ operator, database }))
  const quiet = { maxPauseMs: 20_000, say: () => {} }
  const closing = new AbortController()
  try {
    await send('/v1/test/funding', { body: { amount: 10_000 } })
    await verifyTenant(service.operator, tenantId)
    const live = await makeKey(service, tenantId, { scope: 'admin', environment: 'live' })
    const use = await useCards({
      sandbox: send,
      live: speak(service.urls.live, { ...live, version: current }),
    })
    const stream = await fetch(`${service.urls.sandbox}/v1/events/stream`, {
      headers: { Authorization: `Bearer ${secret}` },
      signal: closing.signal,
    })
    let streamed = ''
    const ended = (async () => {
      for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) streamed += part
    })()
    const first = await use(service, 't1')
    await until('the stream', () => streamed.includes('event: card.transaction.authorized'))
    expect(first).toMatchObject([{ decision: 'approved' }, { decline_reason: 'insufficient_funds' }])
    const answers: unknown[] = []
    const before = async (step: MoveStep) => {
      if (step === 'compare' || step === 'arrive') answers.push(await use(service, step))
    }
    const destination = { type: 'usdc_address', holder_name: 'Harbour Coffee LLC', address: ADDRESS }
    const { id: destinationId } = (await send('/v1/payout_destinations', { body: destination })).body
    await makePayable(service.database, 'sandbox', tenantId, destinationId, 10_000)
    const order = { amount: 1000, currency: 'usdc', destination_id: destinationId }
    const payout = (await send('/v1/payouts', { body: order })).body
    const early = moveTenant(here!, there!, tenantId, quiet)
    await expect(early).rejects.toThrow(`1 payouts are not paid yet: ${payout.id} (sandbox)`)
    expect((await send(`/v1/payouts/${payout.id}/cancel`, { method: 'POST' })).status).toBe(200)

    await moveTenant(here!, there!, tenantId, { ...quiet, before })
    service.forget()
    target.forget()
    await ended
    // The network repeats what live has not answered. A closed sandbox is like one that was wiped.
    const unknown = { decline_reason: 'unknown_card' }
    expect(answers).toMatchObject([
      [unknown, { decision: 'unavailable' }],
      [unknown, unknown],
    ])
    expect(await use(target, 't1')).toEqual(first)
    expect(await use(target, 't2')).toMatchObject([{ decision: 'approved' }, { decision: 'declined' }])
    expect((await speak(target.urls.sandbox, { secret: token.secret })('/v1/cards')).status).toBe(200)
    expect((await speak(service.urls.sandbox, { secret: token.secret })('/v1/cards')).status).toBe(503)
  } finally {
    closing.abort()
    await target.stop()
  }
})

test('a fence keeps what a worker plans at the same time, so that no webhook is sent twice', async () => {
  const tenantId = await makeTenant(service)
  const { control } = service.database
  const planned = async () => {
    const text = 'SELECT planned::int FROM sandbox.webhook_senders WHERE tenant_id = $1'
    return (await control.query({ text }, [tenantId])).rows
  }
  const add =
    'INSERT INTO sandbox.webhook_senders (tenant_id, tokens, refilled_at, planned) VALUES ($1, 0, now(), 5)'
  await control.query({ text: add }, [tenantId])
  const run = { tenantId, id: randomUUID() }
  const tables = await listMovedTables(control)
  await beginAtSource(service.operator, run, undefined)
  let fenced: Promise<void> | undefined
  await control.transaction(async (worker) => {
    const plan = 'UPDATE sandbox.webhook_senders SET planned = 7 WHERE tenant_id = $1'
    await worker.query({ text: plan }, [tenantId])
    fenced = fence(service.operator, run, tables)
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until('the fence to wait', async () => (await control.query({ text: waiting })).count > 0)
  })
  await fenced
  expect(await planned()).toEqual([])
  await unfence(service.operator, run, tables)
  expect(await planned()).toEqual([{ planned: 7 }])
})

test('the service opens a tenant again whose move was killed behind the fence, and a late command fails', async () => {
  const tenantId = await makeTenant(service)
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret, version: current })
  const { operator, database } = service
  const run = { tenantId, id: randomUUID() }
  const tables = await listMovedTables(database.control)
  const openAgain = () => openAbandoned(operator, pino({ enabled: false }))
  const write = async () => {
    service.forget()
    return (await send('/v1/pass_templates', { body: TEMPLATE })).status
  }
  const past = `UPDATE control.tenant_moves SET alive_until = now() - interval '1 second' WHERE tenant_id = $1`
  const lease = { now: START, until: START + 1, token: randomUUID() }
  const visit = () => claimSpace(database.sandbox, tenantId, lease)
  expect(await write()).toBe(201)
  await beginAtSource(operator, run, undefined)
  const late = whileFenced(operator, run, tables, async () => {
    await openAgain()
    expect(await write()).toBe(503)
    expect(await visit()).toBeUndefined()
    await database.control.query({ text: past }, [tenantId])
    await openAgain()
    expect(await write()).toBe(201)
    await leave(operator, run)
  })
  await expect(late).rejects.toThrow(`the service has opened ${tenantId} again`)
  expect(await write()).toBe(201)
  expect(await visit()).toBeDefined()
})

test('the last round of a move finds rows of a large table that were updated, deleted and added', async () => {
  const tenantId = await makeTenant(service, 'standard')
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret, version: current })
  const target = await startTestService()
  const [here, there] = [service, target].map(({ operator, database }) => ({ operator, database }))
  const query = (text: string) => service.database.control.query({ text }, [tenantId])
  const read = async ({ database }: TestService) => {
    const text = `SELECT md5(string_agg(p::text, '' ORDER BY id)) AS hash FROM sandbox.passes p WHERE tenant_id = $1`
    return (await database.control.query({ text }, [tenantId])).rows[0]
  }
  try {
    await fill(send)
    await query(`INSERT INTO sandbox.passes
      SELECT r.* FROM sandbox.passes p, generate_series(1000, 2200) AS i,
             LATERAL jsonb_populate_record(p, jsonb_build_object('id', 'pass_' || i, 'page_token', 'page' || i)) AS r
       WHERE p.tenant_id = $1`)
    const before = async (step: MoveStep) => {
      if (step !== 'fence') return
      await query(`UPDATE sandbox.passes SET holder_name = 'Ada' WHERE tenant_id = $1 AND id = 'pass_1100'`)
      await query(`DELETE FROM sandbox.passes WHERE tenant_id = $1 AND id = 'pass_1500'`)
      await query(`UPDATE sandbox.passes SET id = 'pass_1800a' WHERE tenant_id = $1 AND id = 'pass_1800'`)
    }
    const said: string[] = []
    const say = (line: string) => void said.push(line)
    await moveTenant(here!, there!, tenantId, { maxPauseMs: 60_000, say, before })
    expect(said.at(-1)).toMatch(/^round \d+: \d+ rows, 4 copied or deleted/)
    expect(await read(target)).toEqual(await read(service))
  } finally {
    await target.stop()
  }
})

const exporting = (folder: string, close: boolean) => ({ folder, close, sealed: close, maxPauseMs: 20_000 })

/** Files with sealed values, which begin with their format and are longer than a digest, or with a password hash. */
function leftOut(folder: string): string[] {
  return readdirSync(folder).filter((name) =>
    /"\\\\x01[0-9a-f]{100,}"|\$scrypt\$/.test(readFileSync(join(folder, name), 'utf8')),
  )
}
