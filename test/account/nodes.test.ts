/** What one node is told, all know within a second. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { revokeConnectedApp } from '../../runtime/account/oauth/connected-apps.ts'
import { createKey, revokeKey } from '../../runtime/tenants/admin/keys.ts'
import { issueToken } from '../support/access-tokens.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { endPrograms, type Program, startService, until } from '../support/programs.ts'

let db: DemoDatabase

beforeAll(async () => {
  db = await openDemoDatabase('2026-05-19')
})
afterEach(endPrograms)
afterAll(() => db.close())

async function startNodes(env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const start = (): Program =>
    startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, ...env }, ['--json', '--role', 'api'])
  const ready = await Promise.all([start(), start()].map((node) => node.ready()))
  return ready.map((line) => String(line.sandbox_base_url))
}

const statusAt = async (url: string, secret: string) =>
  (await fetch(`${url}/v1/me`, { headers: { Authorization: `Bearer ${secret}` } })).status

/** Milliseconds from now until both nodes refuse the key. */
async function untilRefused(urls: readonly string[], secret: string): Promise<number> {
  const began = performance.now()
  await Promise.all(
    urls.map((url) => until(`401 at ${url}`, async () => (await statusAt(url, secret)) === 401)),
  )
  return performance.now() - began
}

test('a revoked key is refused by every node within a second', async () => {
  const urls = await startNodes()
  const { id, secret } = await createKey(db.operator, { tenantId: db.tenantId, environment: 'sandbox' })
  for (const url of urls) expect(await statusAt(url, secret)).toBe(200)
  await revokeKey(db.operator, id)
  expect(await untilRefused(urls, secret)).toBeLessThan(1000)
})

test('an access token whose authorization was revoked is, too', async () => {
  const urls = await startNodes()
  const text = 'SELECT id FROM control.members WHERE tenant_id = $1'
  const { rows } = await db.control.query<{ id: string }>({ text }, [db.tenantId])
  const member = { tenantId: db.tenantId, memberId: rows[0]!.id }
  const { id, secret } = await issueToken(db, member, 'sandbox')
  for (const url of urls) expect(await statusAt(url, secret)).toBe(200)
  await revokeConnectedApp(db.operator, id)
  expect(await untilRefused(urls, secret)).toBeLessThan(1000)
})

test('a change of an account reaches nodes that miss the notification', async () => {
  const urls = await startNodes()
  const { id, secret } = await createKey(db.operator, { tenantId: db.tenantId, environment: 'sandbox' })
  for (const url of urls) expect(await statusAt(url, secret)).toBe(200)
  // What the revocation does, without NOTIFY.
  await db.control.transaction(async (tx) => {
    await tx.query({ text: 'UPDATE control.keys SET revoked_at = now() WHERE id = $1' }, [id])
    await tx.query({ text: 'UPDATE control.revision SET revision = revision + 1' })
  })
  expect(await untilRefused(urls, secret)).toBeLessThan(1000)
})
