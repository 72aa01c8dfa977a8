/** An operator who creates API keys all the time. Each is a row on the coordinator and an audit entry on a worker. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { mayPass } from '../../../runtime/database/errors.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import type { Operator } from '../../../runtime/tenants/admin/change.ts'
import { createKey } from '../../../runtime/tenants/admin/keys.ts'
import { until } from '../../support/programs.ts'

export interface KeyCreation {
  /** Identifiers of the keys that the operator was told. */
  readonly told: ReadonlySet<string>
  /** Attempts without an answer: the key exists or not. */
  readonly unanswered: ReadonlySet<string>
  /** Waits until the operator was told as many more. */
  create(count: number): Promise<void>
  stop(): Promise<void>
}

const AGAIN_MS = 100

/** Starts one creation after the other, for the tenants in turn. */
export function startKeyCreation(operator: Operator, tenantIds: readonly string[]): KeyCreation {
  const [told, unanswered] = [new Set<string>(), new Set<string>()]
  let stopped = false
  const create = async (tenantId: string) => {
    const id = newId('key')
    try {
      await createKey(operator, { tenantId, environment: 'sandbox', scope: 'read', id })
      told.add(id)
    } catch (error) {
      if (!mayPass(error)) throw error
      unanswered.add(id)
      await wait(AGAIN_MS)
    }
  }
  const run = async () => {
    for (let n = 0; !stopped; n += 1) await create(tenantIds[n % tenantIds.length]!)
  }
  const running = run()
  running.catch(() => {}) // `stop` throws it
  return {
    told,
    unanswered,
    create: async (count) => {
      const before = told.size
      await Promise.race([running, until(`${count} keys`, () => told.size >= before + count, 60_000)])
    },
    stop: async () => {
      stopped = true
      await running
    },
  }
}

/** Expects each key that the operator was told, and with each key its audit entry and the other way round. */
export async function compareKeys({ control }: Operator, { told, unanswered }: KeyCreation): Promise<void> {
  const list = async (text: string) =>
    (await control.query<{ id: string }>({ text }, [[...told, ...unanswered]])).rows.map(({ id }) => id)
  const keys = await list('SELECT id FROM control.keys WHERE id = ANY ($1) ORDER BY 1')
  const entries = await list(`SELECT target_id AS id FROM sandbox.audit_log
      WHERE action = 'key.created' AND target_id = ANY ($1) ORDER BY 1`)
  expect(entries).toEqual(keys)
  expect([...told].filter((id) => !keys.includes(id))).toEqual([])
}
