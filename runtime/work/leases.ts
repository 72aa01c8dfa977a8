/** Leases on rows that several workers find: one template for the statements that acquire, renew and release them. */
import type { Database, Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'

/** Which worker has a row, and until when. Times are machine time by the database's clock, in milliseconds since the epoch. */
export interface Lease {
  /** A UUID. Only with it may the worker write what it did. */
  readonly token: string
  readonly now: number
  /** From then on, other workers may acquire the row. */
  readonly until: number
}

/** How rows of a table are leased. */
export interface LeaseTable {
  /** The names of the statements begin with it. */
  readonly name: string
  readonly table: string
  /** Columns that name a row; `tenant_id` first if the table has one. */
  readonly key: readonly string[]
  /** Columns of the lease. A row without a lease has `until` in the past, or null. */
  readonly token: string
  readonly until: string
  /** Which rows can be leased. Default: all. */
  readonly where?: string
  /** What else is written when a worker acquires a row. */
  readonly also?: string
  /** What the worker is given of the row. */
  readonly returning: string
  /** Makes the row of a key if it is missing. Default: only rows that exist can be leased. */
  readonly open?: Statement
}

type LeaseKey = readonly (string | number)[]

export interface Leases<Leased> {
  /** Takes the row, or renews the lease of the same token. Undefined: another worker has the row, or it cannot be leased. */
  acquire(db: Database, key: LeaseKey, lease: Lease): Promise<Leased | undefined>
  /** Whether the worker still has the row. If so, no other worker acquires it before the end of the transaction. */
  renew(db: Database, key: LeaseKey, lease: Lease): Promise<boolean>
  /** Lets other workers acquire the row at once. Does nothing if another worker has it. */
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
