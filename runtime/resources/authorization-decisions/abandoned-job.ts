/** Questions whose asking process has ended before their answer: they end with the default action. */
import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../platform/audit/queries.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { readSpace } from '../../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { lockFacts } from '../card-transactions/authorizing.ts'
import { conclude } from './concluding.ts'
import { findOverdueQuestions, readDecision } from './queries.ts'

export interface AbandonedParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
}

/** Questions looked for at a time. */
const BATCH = 100

/** Ends the questions that nobody will end any more, each once however many nodes try. */
export async function endAbandoned(parts: AbandonedParts): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (;;) {
      const overdue = await findOverdueQuestions(parts.database[environment], parts.clock.machine(), BATCH)
      for (const { tenant_id: space, id } of overdue) {
        const due = await endOne(parts, environment, space, id).catch((error: unknown) => {
          if (isSpaceWiped(error)) return false // the next look does not find it
          throw error
        })
        if (due) parts.wakeUpChannel.publish(environment, space)
      }
      if (overdue.length < BATCH) break
    }
  }
}

/** Gives whether deliveries may be due. */
async function endOne(
  { database, clock }: AbandonedParts,
  environment: Environment,
  space: string,
  id: string,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const now = clock.service(environment)
  const pin = await readPin(database.control, tenantId, environment)
  return database[environment].forTenant(tenantId).transaction(async (db) => {
    const question = await readDecision(db, space, id)
    const facts = question && (await lockFacts(db, space, question.use.card_id, now, 'locked'))
    if (!facts) return false // wiped
    const events = collectEvents({ tenantId: space, pin, now })
    const row = await conclude({ db, space, events, now }, { id, answer: undefined }, facts)
    const due = await events.write(db)
    enqueue(
      appendAudit(
        db,
        space,
        systemEntry(environment, 'authorization_decision.timed_out', row.decision_id!, now),
      ),
    )
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startAbandonedJob(parts: AbandonedParts, log: Logger): PeriodicJob {
  return runPeriodically(() => endAbandoned(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'abandoned questions could not be ended; the next look finds them'),
  })
}
