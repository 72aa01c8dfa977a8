/** The clock by which destinations are held. */
import type { Database } from '../../platform/database/database.ts'

/** The tenant's time for settlements. @param now service time. */
export async function settlementTime(_db: Database, _space: string, now: number): Promise<number> {
  return now
}
