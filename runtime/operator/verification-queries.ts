import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'
import type { Environment } from '../platform/environment.ts'

export const VERIFIED = ['ledger', 'audit_log'] as const
export type VerifiedLog = (typeof VERIFIED)[number]

export interface VerificationCount {
  readonly environment: Environment
  readonly log: VerifiedLog
  /** Tenants with a fault. */
  readonly faults: number
}

export interface VerificationResult extends VerificationCount {
  /** Start of the last complete run, or of the first process that verifies if no run is complete; machine time. */
  readonly verified_at: number
}

const READ: Statement = {
  text: 'SELECT environment, log, faults, verified_at FROM control.verifications ORDER BY environment, log',
}

/** Returns the last results of all processes; none if no process verifies. */
export async function readVerifications(control: Database): Promise<readonly VerificationResult[]> {
  return (await control.query<VerificationResult>(READ)).rows
}

const INSERT = `
  INSERT INTO control.verifications AS v (environment, log, verified_at, faults)
  SELECT n.environment, n.log, $2, n.faults
    FROM json_to_recordset($1) AS n (environment text, log text, faults integer)
  ON CONFLICT (environment, log)`

const BEGIN: Statement = { text: `${INSERT} DO NOTHING` }

const COMPLETE: Statement = {
  text: `${INSERT} DO UPDATE SET verified_at = excluded.verified_at, faults = excluded.faults
          WHERE v.verified_at < excluded.verified_at`,
}

const RAISE: Statement = {
  text: 'UPDATE control.verifications SET faults = greatest(faults, $3) WHERE environment = $1 AND log = $2',
}

/** Stores that a process verifies, unless results exist. */
export async function beginVerifications(
  control: Database,
  counts: readonly VerificationCount[],
  now: number,
): Promise<void> {
  await control.query(BEGIN, [JSON.stringify(counts), toTimestamp(now)])
}

/** Stores the results of a complete run, unless a run that began later is complete. */
export async function completeVerifications(
  control: Database,
  counts: readonly VerificationCount[],
  began: number,
): Promise<void> {
  await control.query(COMPLETE, [JSON.stringify(counts), toTimestamp(began)])
}

/** Stores the faults that a run has found so far, if these are more than those of the last run. */
export async function raiseFaults(
  control: Database,
  { environment, log, faults }: VerificationCount,
): Promise<void> {
  await control.query(RAISE, [environment, log, faults])
}
