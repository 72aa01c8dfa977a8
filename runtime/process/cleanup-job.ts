import type { Logger } from 'pino'
import { sweepInvitations } from '../account/members/invitations.ts'
import { sweepOauth } from '../account/oauth/queries.ts'
import { sweepTotals } from '../account/totals/reading.ts'
import { STORED_FOR_MS, sweepAnswers } from '../api/idempotency.ts'
import { sweepRequests } from '../api/request-log-queries.ts'
import { sweepTokens } from '../cards/tokens/queries.ts'
import { sweepSpending } from '../cards/transactions/spending.ts'
import { sweepPasskeyChallenges } from '../dashboard/sign-in/passkey-queries.ts'
import { sweepSessions } from '../dashboard/sign-in/queries.ts'
import type { Database } from '../database/database.ts'
import { PAYMENTS_KEPT_MS, sweepPayments } from '../money/chain/retention.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../platform/periodic.ts'
import { USAGE_DAYS } from '../tenants/admin/usage.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import { sweepFactors } from '../tenants/factors/factor-queries.ts'
import { sweepWrongCodes } from '../tenants/factors/wrong-code-queries.ts'
import { MAX_PAUSE_MS } from '../tenants/factors/wrong-codes.ts'
import { sweepFaults } from '../tenants/faults/queries.ts'
import { sweepBatches, sweepUsage } from '../tenants/usage/queries.ts'
import { firstTouchedDay, sweepTouches } from '../tenants/usage/touches.ts'
import { sweepSetAside } from '../work/set-aside-queries.ts'

type Databases = Readonly<Record<Environment | 'control', Database>>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Stored responses are kept an hour longer than they are valid. The clocks of nodes differ, and no node may delete a
 * response that another node still replays.
 */
const MARGIN_MS = HOUR_MS

/** Retention of the request log, by machine time. */
const REQUESTS_KEPT_MS = 7 * DAY_MS

/**
 * Retention of totals of a day, by service time. Spending limits read at most the days of a week. Clocks of nodes differ, so a
 * second week is kept.
 */
const SPENDING_DAYS = 14

/**
 * Retention of the totals of months, and of the daily totals, by service time. Spending limits read at most the months of a
 * year, and the dashboard reads 178 days.
 */
const YEAR_DAYS = 400

/** Maximum number of rows that one statement deletes. */
const BATCH = 1000

const STEP_MS = 30_000

/**
 * Deletes expired rows: stored responses, tokens, challenges, used codes, sessions, invitations, OAuth codes and
 * tokens, batch names, the request log, touched changes, payments on chains, old totals and usage counters, and rows set aside
 * that no longer exist.
 *
 * Throws an `AggregateError` of the failed sweeps after all sweeps have run.
 */
export async function sweep(databases: Databases, clock: Clock): Promise<void> {
  const failures: unknown[] = []
  for (const each of sweepsOf(databases, clock)) {
    await each().catch((error: unknown) => {
      failures.push(error)
    })
  }
  if (failures.length > 0) throw new AggregateError(failures)
}

type Sweep = () => Promise<unknown>

/** Repeats a sweep as long as it deletes full batches. */
function inBatches(deleteBatch: () => Promise<number>): Sweep {
  return async () => {
    while ((await deleteBatch()) >= BATCH) {
      // the next batch
    }
  }
}

function sweepsOf(databases: Databases, clock: Clock): readonly Sweep[] {
  const { control } = databases
  const now = clock.machine()
  const before = now - HOUR_MS
  // Each environment has its own service time. OAuth tokens are kept a day longer, so that the error can say that a
  // token has expired.
  const services = ENVIRONMENTS.map((environment) => clock.service(environment))
  return [
    ...ENVIRONMENTS.flatMap((environment) => {
      const db = databases[environment]
      const service = clock.service(environment)
      const daysAgo = (days: number) => new Date(service - days * DAY_MS).toISOString().slice(0, 10)
      return [
        inBatches(() => sweepAnswers(db, service - STORED_FOR_MS - MARGIN_MS, BATCH)),
        inBatches(() => sweepTokens(db, service, BATCH)),
        inBatches(() => sweepRequests(db, now - REQUESTS_KEPT_MS, BATCH)),
        inBatches(() => sweepFaults(db, now - DAY_MS - MARGIN_MS, BATCH)),
        inBatches(() => sweepSpending(db, 'day', daysAgo(SPENDING_DAYS), BATCH)),
        inBatches(() => sweepSpending(db, 'month', daysAgo(YEAR_DAYS), BATCH)),
        inBatches(() => sweepTotals(db, daysAgo(YEAR_DAYS), BATCH)),
        inBatches(() => sweepUsage(db, daysAgo(USAGE_DAYS), BATCH)),
        () => sweepBatches(db, now - DAY_MS),
        () => sweepTouches(db, firstTouchedDay(service)),
      ]
    }),
    () => sweepFactors(control, before - DAY_MS, Math.floor(before / STEP_MS)),
    () => sweepWrongCodes(control, before - MAX_PAUSE_MS),
    () => sweepSessions(control, now),
    () => sweepPasskeyChallenges(control, now),
    () => sweepInvitations(control, now),
    () => sweepSetAside(control, now),
    inBatches(() => sweepPayments(control, now - PAYMENTS_KEPT_MS, BATCH)),
    () => sweepOauth(control, now - DAY_MS, Math.min(...services) - DAY_MS),
  ]
}

const PAUSE_MS = 60_000

/** Sweeps every minute. */
export function startCleanupJob(databases: Databases, clock: Clock, log: Logger): PeriodicJob {
  return runPeriodically(() => sweep(databases, clock), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'Cleanup failed; it runs again in a minute'),
  })
}
