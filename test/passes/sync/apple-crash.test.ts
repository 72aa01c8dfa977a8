/** Workers that are killed at any moment: every device is told, and keeps the last state. */
import { type KeyObject, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openWallets, pushTo } from '../../../runtime/passes/passes/registration-queries.ts'
import { claimUpdates, settleUpdates } from '../../../runtime/passes/wallets/sync/apple/queue-queries.ts'
import { endPrograms, type Program, startProgram, until } from '../../support/programs.ts'
import { openWalletStage, type Phone, type Tenant, TOPIC, type WalletStage } from './apple-stage.ts'

let stage: WalletStage
let tenant: Tenant
beforeAll(async () => {
  stage = await openWalletStage()
  tenant = await stage.tenant()
})
afterAll(() => stage.close())
afterEach(endPrograms)

async function startWorker(): Promise<Program> {
  const { provider } = stage.auth as { readonly provider: { readonly key: KeyObject } }
  const key = provider.key.export({ type: 'pkcs8', format: 'pem' })
  const program = startProgram(process.execPath, ['test/passes/sync/apple-program.ts'], {
    DATABASE_URL: stage.service.database.url,
    SVC_PEPPER: stage.service.database.pepper,
    APPLE: JSON.stringify({ url: stage.push.url, topic: TOPIC, key }),
  })
  await program.ready()
  return program
}

const patchTemplate = async (name: string) => {
  const path = `/v1/pass_templates/${tenant.templateId}`
  expect((await tenant.send(path, { method: 'PATCH', body: { name } })).status).toBe(200)
}

const DEVICES = 6_000
/** What a worker may have under way when it is killed. */
const UNDER_WAY = 400

test('a fan-out killed in the middle tells each device, and few of them twice', {
  timeout: 60_000,
}, async () => {
  await stage.rows('INSERT INTO wallet_heads (tenant_id, changed) VALUES ($1, 0)', [tenant.id])
  await stage.rows(
    `INSERT INTO apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
     SELECT $1, 'device-' || lpad((n / 2)::text, 8, '0'), 'pass_' || lpad(n::text, 26, '0'), $2,
            lpad(to_hex(n / 2), 64, '0'), 0, '2026-01-01'
       FROM generate_series(0, $3::integer * 2 - 1) AS n`,
    [tenant.id, tenant.templateId, DEVICES],
  )
  const began = stage.push.pushes.length
  const sent = () => stage.push.pushes.slice(began).map(({ token }) => token)
  const first = await startWorker()
  await patchTemplate('One')
  await until('the first pushes', () => sent().length > 0)
  const [walk] = await stage.rows('SELECT * FROM wallet_changes')
  await first.end('SIGKILL')
  expect(walk).toBeDefined() // it was in the middle
  await startWorker()
  await until('the end', stage.isQuiet, 90_000)
  expect(new Set(sent()).size).toBe(DEVICES)
  expect(sent().length).toBeLessThanOrEqual(DEVICES + UNDER_WAY)
  const stamps = await stage.rows('SELECT FROM apple_registrations WHERE changed = 0 AND tenant_id = $1', [
    tenant.id,
  ])
  expect(stamps.length).toBe(0)
})

test('a change while a push is sent is sent again; work that another worker has taken stays', async () => {
  const { sandbox } = stage.service.database
  const { id: space } = await stage.tenant()
  const now = Date.now()
  const change = () => pushTo(sandbox, space, [{ id: 'device' }], now)
  const claim = async (token: string) =>
    claimUpdates(sandbox, { space, platform: 'apple', now, leaseUntil: now + 1000, limit: 9, token })
  const settle = (token: string, generation: number) =>
    settleUpdates(sandbox, 'apple', [
      { space, target: 'device', token, generation, readyAt: undefined, tries: 0 },
    ])
  const [first, second] = [randomUUID(), randomUUID()]
  await openWallets(sandbox, space)
  await change()
  expect(await claim(first)).toMatchObject([{ target: 'device', generation: 0, tries: 0 }])
  await change()
  await settle(first, 0)
  expect(await claim(second)).toMatchObject([{ target: 'device', generation: 1, tries: 0 }])
  await settle(first, 1)
  expect(await stage.isQuiet()).toBe(false)
  await settle(second, 1)
  expect(await stage.isQuiet()).toBe(true)
})

/** Asks what is new at each push, once more where another comes meanwhile. */
function listen(phones: readonly Phone[]): () => boolean {
  const busy = new Map<Phone, boolean>()
  const failures: unknown[] = []
  const byToken = new Map(phones.map((phone) => [phone.pushToken, phone]))
  stage.push.onPush(({ token }) => {
    const phone = byToken.get(token)
    if (!phone) return
    const isBusy = busy.has(phone)
    busy.set(phone, isBusy)
    if (isBusy) return
    const go = async () => {
      do {
        busy.set(phone, false)
        await phone.refresh()
      } while (busy.get(phone))
      busy.delete(phone)
    }
    go().catch((error) => failures.push(error))
  })
  return () => {
    if (failures.length > 0) throw failures[0]
    return busy.size === 0
  }
}

test('no device misses the last state while passes and templates change and a worker is killed', {
  timeout: 60_000,
}, async () => {
  tenant = await stage.tenant()
  const passIds = await Promise.all(Array.from({ length: 25 }, tenant.issue))
  const phones = Array.from({ length: 50 }, stage.phone)
  const isIdle = listen(phones)
  const workers = [await startWorker(), await startWorker()]
  const add = (phone: Phone, at: number) => phone.add(tenant.id, passIds[at % passIds.length]!)
  // Half of them have their passes before anything changes, the others while it does.
  await Promise.all(phones.slice(0, 25).flatMap((phone, at) => [add(phone, at), add(phone, at + 7)]))
  const changing = async (worker: number) => {
    for (let round = 0; round < 20; round += 1) {
      stage.service.clock.monotonic += 10_000
      const passId = passIds[(worker * 5 + round) % passIds.length]!
      const body = { fields: { points: `${worker} ${round}` } }
      expect((await tenant.send(`/v1/passes/${passId}`, { method: 'PATCH', body })).status).toBe(200)
      if (round % 10 === worker) await patchTemplate(`${worker} ${round}`)
    }
  }
  const registering = async () => {
    for (const [at, phone] of phones.slice(25).entries()) {
      await add(phone, at)
      await add(phone, at + 7)
      if (at === 10) await workers[0]!.end('SIGKILL')
    }
  }
  await Promise.all([changing(0), changing(1), changing(2), registering()])
  await until('everybody to be told', async () => (await stage.isQuiet()) && isIdle(), 60_000)
  for (const phone of phones) {
    for (const [passId, { etag }] of phone.kept) {
      const token = stage.tokens.write('apple', { space: tenant.id, passId })
      const now = await phone.ask('HEAD', `/passes/${TOPIC}/${passId}`, token)
      expect([phone.id, passId, etag]).toEqual([phone.id, passId, now.headers.get('etag')])
    }
  }
  expect(phones.every(({ kept }) => kept.size === 2)).toBe(true)
})

// Last: its worker stays.
test('more tenants than there are slots all have their turn', async () => {
  const tenants = await Promise.all(Array.from({ length: 12 }, stage.tenant))
  const phones = await Promise.all(
    tenants.map(async ({ id, issue, send }) => {
      const [phone, passId] = [stage.phone(), await issue()]
      await phone.add(id, passId)
      const body = { fields: { points: '7' } }
      return { phone, change: () => send(`/v1/passes/${passId}`, { method: 'PATCH', body }) }
    }),
  )
  await Promise.all(phones.map(({ change }) => change()))
  stage.work({ concurrency: 2 })
  await until('the end', stage.isQuiet)
  const told = stage.push.pushes.map(({ token }) => token)
  expect(phones.filter(({ phone }) => !told.includes(phone.pushToken))).toEqual([])
})
