/**
 * Leases on rows for which several workers compete. One template generates the statements that acquire, renew and
 * release them.
 */
import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'

/** A lease of a worker on a row. Times are machine time by the database clock, in milliseconds since the epoch. */
export interface Lease {
  /** A UUID. The worker may write its result only with this token. */
  readonly token: string
  readonly now: number
  /** Expiry. From then on, other workers may acquire the row. */
  readonly until: number
}

/** How rows of a table are leased. */
export interface LeaseTable {
  /** Prefix of the statement names. */
  readonly name: string
  readonly table: string
  /** Columns that identify a row; `tenant_id` first if the table has one. */
  readonly key: readonly string[]
  /** Columns of the lease. In a row without a lease, `until` is in the past or null. */
  readonly token: string
  readonly until: string
  /** Condition for rows that can be leased. Default: all. */
  readonly where?: string
  /** Further assignments when a worker acquires a row. */
  readonly also?: string
  /** Columns that `acquire` returns. */
  readonly returning: string
  /** Inserts a missing row. Default: only existing rows can be leased. */
  readonly open?: Statement
}

type LeaseKey = readonly (string | number)[]

export interface Leases<Leased> {
  /**
   * Acquires the row, or renews the lease with the same token. Returns undefined if another worker has the row or it
   * cannot be leased.
   */
  acquire(db: Database, key: LeaseKey, lease: Lease): Promise<Leased | undefined>
  /**
   * Renews the lease. Returns whether this worker still has the row. If so, no other worker acquires it before the end
   * of the transaction.
   */
  renew(db: Database, key: LeaseKey, lease: Lease): Promise<boolean>
  /** Releases the row, so that other workers can acquire it immediately. Does nothing if another worker has it. */
  release(db: Database, key: LeaseKey, token: string): Promise<void>
}

export function createLeases<Leased>(leased: LeaseTable): Leases<Leased> {
  const { name, table, key, token, until, where = 'true', also, returning, open } = leased
  const row = key.map((column, at) => `${column} = $${at + 1}`).join(' AND ')
  const [given, end, now] = [1, 2, 3].map((at) => `$${key.length + at}`)
  const statements = {
    acquire: {
      name: `${name}_acquire`,
      text: `UPDATE ${table} SET ${token} = ${given}, ${until} = ${end}${also ? `, ${also}` : ''}
              WHERE ${row} AND ${where} AND (${token} = ${given} OR coalesce(${until} <= ${now}, true))
          RETURNING ${returning}`,
    },
    renew: {
      name: `${name}_renew`,
      text: `UPDATE ${table} SET ${until} = ${end} WHERE ${row} AND ${where} AND ${token} = ${given}`,
    },
    release: {
      name: `${name}_release`,
      text: `UPDATE ${table} SET ${token} = NULL, ${until} = '-infinity' WHERE ${row} AND ${token} = ${given}`,
    },
  }
  return {
    async acquire(db, of, lease) {
      const values = [...of, lease.token, toTimestamp(lease.until), toTimestamp(lease.now)]
      const take = async () => (await db.query<Leased>(statements.acquire, values)).rows[0]
      const taken = await take()
      if (taken || !open) return taken
      return (await db.query(open, of)).count === 0 ? undefined : take()
    },
    renew: async (db, of, lease) =>
      (await db.query(statements.renew, [...of, lease.token, toTimestamp(lease.until)])).count === 1,
    release: async (db, of, given) => void (await db.query(statements.release, [...of, given])),
  }
}
