/** Passes whose time is over: what everybody sees already is written down and told. */

import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents, emit } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import type { BaseUrls } from '../../platform/addresses/base-urls.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../platform/audit/queries.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { readSpace } from '../../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { PassTokens } from '../../wallet/pass-tokens.ts'
import { changeAtExpiry } from './changed.ts'
import { findOverduePasses, lockPasses, updatePasses } from './queries.ts'
import { statusAt } from './status.ts'
import { showPass } from './view.ts'
import { tellWallets } from './wallet-queue.ts'

export interface ExpiryParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly baseUrls: BaseUrls
  readonly passTokens: Readonly<Record<Environment, PassTokens>>
  readonly wakeUpChannel: WakeUpChannel
}

/** Passes written down at a time. */
const BATCH = 500

/** Expires the passes whose time has come by the service clock, each once however many nodes try. */
export async function expirePasses(parts: ExpiryParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (;;) {
      const now = parts.clock.service(environment)
      const overdue = await findOverduePasses(parts.database[environment], now, BATCH)
      const byTenant = Map.groupBy(overdue, ({ tenant_id }) => tenant_id)
      for (const [tenantId, passes] of byTenant) {
        const ids = passes.map(({ id }) => id)
        const due = await expireOf(parts, environment, tenantId, ids, now).catch((error: unknown) => {
          if (isSpaceWiped(error)) return false // the next look does not find them
          throw error
        })
        if (due) parts.wakeUpChannel.publish(environment, tenantId)
      }
      if (overdue.length < BATCH) break
    }
  }
}

/** Gives whether deliveries may be due. */
async function expireOf(
  { database, clock, baseUrls, passTokens }: ExpiryParts,
  environment: Environment,
  space: string,
  ids: readonly string[],
  now: number,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const passes = await lockPasses(db, space, ids)
    const expired = [...passes.values()].flatMap((pass) =>
      // Another node, or whoever archived it, may have been quicker.
      pass.status !== 'expired' && statusAt(pass, now) === 'expired'
        ? [
            {
              ...pass,
              ...changeAtExpiry(pass, now),
              status: 'expired' as const,
              updated: Math.max(pass.updated, pass.expires_at!),
            },
          ]
        : [],
    )
    if (expired.length === 0) return false
    const events = collectEvents({ tenantId: space, pin, now })
    const showing = { baseUrl: baseUrls[environment], passTokens: passTokens[environment], space, now }
    enqueue(updatePasses(db, space, expired))
    tellWallets(db, space, expired, clock.machine())
    for (const pass of expired) {
      emit(events, { type: 'pass.expired', data: { pass: showPass(pass, showing) } })
    }
    const due = events.write(db)
    for (const { id } of expired) {
      enqueue(appendAudit(db, space, systemEntry(environment, 'pass.expired', id, now)))
    }
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startExpiryJob(parts: ExpiryParts, log: Logger): PeriodicJob {
  return runPeriodically(() => expirePasses(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'passes could not be expired; the next look finds them'),
  })
}
