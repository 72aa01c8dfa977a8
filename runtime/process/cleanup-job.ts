import type { Logger } from 'pino'
import { sweepInvitations } from '../admin/invitations.ts'
import { STORED_FOR_MS, sweepAnswers } from '../api/idempotency.ts'
import { sweepRequests } from '../api/request-log-queries.ts'
import { PAYMENTS_KEPT_MS, sweepPayments } from '../chain/retention.ts'
import { sweepPasskeyChallenges } from '../console/sign-in/passkey-queries.ts'
import { sweepSessions } from '../console/sign-in/queries.ts'
import { sweepOauth } from '../oauth/queries.ts'
import type { Clock } from '../platform/clock/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { sweepFactors } from '../platform/factors/factor-queries.ts'
import { sweepWrongCodes } from '../platform/factors/wrong-code-queries.ts'
import { MAX_PAUSE_MS } from '../platform/factors/wrong-codes.ts'
import { type PeriodicJob, runPeriodically } from '../platform/periodic.ts'
import { sweepBatches } from '../platform/usage/queries.ts'
import { firstTouchedDay, sweepTouches } from '../platform/usage/touches.ts'
import { sweepTokens } from '../resources/tokens/queries.ts'

type Databases = Readonly<Record<Environment | 'control', Database>>

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Answers stay a little longer than they are believed: clocks of nodes differ, and none may sweep what another replays. */
const MARGIN_MS = HOUR_MS

/** Requests stand so long in their log, by machine time. */
const REQUESTS_KEPT_MS = 7 * DAY_MS

/** Answers deleted by one statement. */
const BATCH = 1000

const STEP_MS = 30_000

/**
 * Deletes what has run out: stored answers, tokens, challenges, used codes, sessions, invitations, OAuth's codes and tokens, names of batches,
 * the request log, what changes between versions have touched, payments on chains.
 */
export async function sweep(databases: Databases, clock: Clock): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const createdBy = clock.service(environment) - STORED_FOR_MS - MARGIN_MS
    while ((await sweepAnswers(databases[environment], createdBy, BATCH)) >= BATCH) {
      // as long as there is a whole batch, there may be more
    }
    while ((await sweepTokens(databases[environment], clock.service(environment), BATCH)) >= BATCH) {
      // the same
    }
    while (
      (await sweepRequests(databases[environment], clock.machine() - REQUESTS_KEPT_MS, BATCH)) >= BATCH
    ) {
      // the same
    }
    await sweepBatches(databases[environment], clock.machine() - DAY_MS)
    await sweepTouches(databases[environment], firstTouchedDay(clock.service(environment)))
  }
  const before = clock.machine() - HOUR_MS
  await sweepFactors(databases.control, before - DAY_MS, Math.floor(before / STEP_MS))
  await sweepWrongCodes(databases.control, before - MAX_PAUSE_MS)
  await sweepSessions(databases.control, clock.machine())
  await sweepPasskeyChallenges(databases.control, clock.machine())
  await sweepInvitations(databases.control, clock.machine())
  while ((await sweepPayments(databases.control, clock.machine() - PAYMENTS_KEPT_MS, BATCH)) >= BATCH) {
    // the same
  }
  // A day longer: until then an expired token is told so. Each environment's consents have its clock's times.
  const services = ENVIRONMENTS.map((environment) => clock.service(environment))
  await sweepOauth(databases.control, clock.machine() - DAY_MS, Math.min(...services) - DAY_MS)
}

const PAUSE_MS = 60_000

/** Sweeps every minute. */
export function startCleanupJob(databases: Databases, clock: Clock, log: Logger): PeriodicJob {
  return runPeriodically(() => sweep(databases, clock), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'a sweep failed; the next one goes on'),
  })
}
