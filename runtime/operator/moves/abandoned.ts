/** Opens tenants again whose move or export was killed while it refused their writes. */
import type { Logger } from 'pino'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Operator } from '../../tenants/admin/change.ts'
import { listAbandoned, unfence } from './source.ts'
import { listMovedTables } from './tables.ts'

type Surroundings = Pick<Operator, 'control' | 'clock'>

const PAUSE_MS = 5000

/** Takes down each fence whose command does not report any more. One that fails does not stop the others. */
export async function openAbandoned(operator: Surroundings, log: Pick<Logger, 'warn'>): Promise<void> {
  const abandoned = await listAbandoned(operator.control)
  if (abandoned.length === 0) return
  const tables = await listMovedTables(operator.control)
  for (const run of abandoned) {
    const { tenantId } = run
    try {
      await unfence(operator, run, tables)
      log.warn({ tenantId }, 'A move or an export was killed; the tenant is open for writes again')
    } catch (err) {
      log.warn(
        { err, tenantId },
        'The tenant of a killed move is still closed for writes; the next run repeats it',
      )
    }
  }
}

/** Looks for such fences while the service runs. */
export function startOpeningAbandoned(operator: Surroundings, log: Logger): PeriodicJob {
  return runPeriodically(() => openAbandoned(operator, log), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'Looking for killed moves failed; the next run repeats it'),
  })
}
