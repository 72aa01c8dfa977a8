/** Verifies the ledgers and audit logs of all tenants while the service runs, for the metrics of all processes and the log. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { findFault } from '../money/ledger/verify.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { NETWORK_AUDIT, verifyAudit } from '../tenants/admin/audit.ts'
import { ControlError, type Operator } from '../tenants/admin/change.ts'
import { listTenants } from '../tenants/admin/tenants.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import { findSpaces } from './ledger.ts'
import {
  beginVerifications,
  completeVerifications,
  raiseFaults,
  VERIFIED,
  type VerificationCount,
  type VerifiedLog,
} from './verification-queries.ts'

export interface VerificationJob {
  /** Starts no further check. Resolves after the current one. */
  stop(): Promise<void>
}

export interface VerificationOptions {
  readonly control: Operator['control']
  readonly clock: Clock
  readonly log: Logger
  /** Time between the starts of two runs. */
  readonly everyMs: number
  /** Largest share of the time that checks take, so that they do not slow down other work. Default: 0.2. */
  readonly share?: number
}

const PAGE = 100

/** The first run waits, so that a process that just started serves its load first. */
const FIRST_AFTER_MS = 60_000

/**
 * Verifies everything, again and again, and stores the results. Each process with the job does so on its own. The log names
 * the tenant of a fault; the results do not.
 */
export function startVerification(options: VerificationOptions): VerificationJob {
  const { clock, log, everyMs, share = 0.2 } = options
  // A long statement must not delay others on a shared connection.
  const control: Operator['control'] = {
    ...options.control,
    query: (statement, values) => options.control.query({ ...statement, long: true }, values),
  }
  const stopped = new AbortController()
  let faults = new Map<string, number>()
  const count = (environment: Environment, of: VerifiedLog): VerificationCount => {
    return { environment, log: of, faults: faults.get(keyOf(environment, of)) ?? 0 }
  }
  const counts = () => ENVIRONMENTS.flatMap((environment) => VERIFIED.map((of) => count(environment, of)))

  const check = async (
    environment: Environment,
    of: VerifiedLog,
    find: () => Promise<string | undefined>,
  ) => {
    if (stopped.signal.aborted) return
    const began = performance.now()
    // If the sandbox was wiped during the check, the second check reads the new rows.
    const fault = (await find()) && (await find())
    if (fault !== undefined) {
      log.error({ environment, fault }, 'Verification found a fault')
      faults.set(keyOf(environment, of), count(environment, of).faults + 1)
      await raiseFaults(control, count(environment, of))
    }
    await pause((performance.now() - began) * (1 / share - 1))
  }
  const pause = (ms: number) =>
    wait(ms, undefined, { signal: stopped.signal, ref: false }).catch((error: unknown) => {
      if (!stopped.signal.aborted) throw error
    })

  const verifyTenant = async (id: string) => {
    for (const environment of ENVIRONMENTS) {
      await check(environment, 'ledger', async () => {
        const spaces = await findSpaces(control, id)
        const fault = await findFault(control, environment, spaces[environment])
        return fault && `the ledger of ${id} is not balanced: ${fault}`
      })
      await check(environment, 'audit_log', () => faultInAudit(control, id, environment))
    }
  }
  const verifyAll = async () => {
    const began = clock.machine()
    faults = new Map()
    for (const environment of ENVIRONMENTS)
      await check(environment, 'audit_log', () => faultInAudit(control, NETWORK_AUDIT, environment))
    for (let after: string | undefined, isMore = true; isMore && !stopped.signal.aborted; ) {
      const page = await listTenants({ control }, { limit: PAGE, after })
      for (const { id } of page.data) await verifyTenant(id)
      after = page.data.at(-1)?.id
      isMore = page.has_more
    }
    if (stopped.signal.aborted) return
    await completeVerifications(control, counts(), began)
  }
  const warn = (err: unknown) => log.warn({ err }, 'Verification failed; the next run repeats it')
  const run = async () => {
    await beginVerifications(control, counts(), clock.machine()).catch(warn)
    await pause(Math.min(FIRST_AFTER_MS, everyMs))
    while (!stopped.signal.aborted) {
      const began = performance.now()
      await verifyAll().catch(warn)
      await pause(Math.max(everyMs / 10, everyMs - (performance.now() - began)))
    }
  }
  const running = run()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

const keyOf = (environment: Environment, of: VerifiedLog) => `${environment} ${of}`

async function faultInAudit(
  control: Operator['control'],
  tenantId: string,
  environment: Environment,
): Promise<string | undefined> {
  try {
    await verifyAudit({ control }, tenantId, environment)
    return undefined
  } catch (error) {
    if (error instanceof ControlError && error.kind === 'broken') return `${tenantId}: ${error.message}`
    throw error
  }
}
