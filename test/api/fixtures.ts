import { expect } from 'vitest'
import type { Environment } from '../../runtime/platform/environment.ts'
import { type Answer, makeKey, type Send, speak, type TestService } from '../support/service.ts'

export const VERSIONS = ['2025-06-01', '2025-11-01', '2026-02-01', '2026-05-19'] as const

/** What every version's template takes. */
export const TEMPLATE = {
  name: 'Coffee loyalty',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [
    { key: 'points', label: 'Points', value: '0' },
    { key: 'tier', label: 'Tier', value: 'basic' },
  ],
}

/** Well formed, and nobody's. */
export const NO_PASS = 'pass_00000000000000000000000000'
export const NO_TEMPLATE = 'tpl_00000000000000000000000000'

/** Speaks with a new write key of the tenant, in the version that it is pinned to. */
export async function speakFor(
  service: TestService,
  tenantId: string,
  environment: Environment = 'sandbox',
): Promise<Send> {
  const { secret } = await makeKey(service, tenantId, { environment })
  return speak(service.urls[environment], { secret })
}

/** Status, type and code of an error. */
export function refusal({ status, body }: Answer): [number, string, string] {
  return [status, body.error.type, body.error.code]
}

/** Status and code of an error, and the first of its faults. */
export function firstFault({ status, body }: Answer): [number, string, unknown] {
  return [status, body.error.code, body.error.details?.[0]]
}

/** Makes a template and gives its id. */
export async function makeTemplate(send: Send, content: object = {}): Promise<string> {
  const { status, body } = await send('/v1/pass_templates', { body: { ...TEMPLATE, ...content } })
  expect(status).toBe(201)
  return body.id
}

/** Issues a pass and gives it whole. */
export async function issuePass(send: Send, templateId: string, content: object = {}) {
  const { status, body } = await send('/v1/passes', { body: { template_id: templateId, ...content } })
  expect(status).toBe(201)
  return body
}

/** Works while a template's row is held, so that requests for passes of it stop in the middle of what they do. */
export function whileHeld<T>(
  { database }: TestService,
  templateId: string,
  work: () => Promise<T>,
): Promise<T> {
  return database.control.transaction(async (db) => {
    const found = { text: 'SELECT tenant_id FROM sandbox.pass_templates WHERE id = $1' }
    const { rows } = await db.query<{ tenant_id: string }>(found, [templateId])
    const held = { text: 'SELECT 1 FROM sandbox.pass_templates WHERE tenant_id = $2 AND id = $1 FOR UPDATE' }
    await db.query(held, [templateId, rows[0]!.tenant_id])
    return work()
  })
}

/** How many statements wait for a lock that somebody else holds. */
export async function countWaiting({ control }: TestService['database']): Promise<number> {
  const text = control.distributed
    ? 'SELECT count(DISTINCT waiting_gpid) AS count FROM citus_lock_waits'
    : `SELECT count(*) AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return (await control.query<{ count: number }>({ text })).rows[0]!.count
}

/** Resolves when a statement waits for a lock that somebody else holds. */
export async function someoneWaits({ database }: TestService): Promise<void> {
  await expect.poll(() => countWaiting(database), { interval: 5, timeout: 10_000 }).toBe(1)
}
