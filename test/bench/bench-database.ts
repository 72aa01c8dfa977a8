import { acquireServer } from '../../runtime/database/embedded/server.ts'
import { watchOver } from '../support/server.ts'
import type { Scratch } from './scratch.ts'

/** A test of the benches runs them on a database that is there and has a pepper: the two variables name it. */
const { BENCH_DATABASE_URL } = process.env
export const BENCH_PEPPER = process.env.BENCH_PEPPER ?? 'pepper of the bench'

/**
 * Starts a PostgreSQL of the bench's own, which is gone at its end.
 * @param parameters of the server, as in `postgresql.conf`.
 * @returns the URL of its database, as the owner.
 */
export async function startDatabase(
  { directory, atEnd }: Scratch,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  if (BENCH_DATABASE_URL !== undefined) return BENCH_DATABASE_URL
  const starting = acquireServer({ dataDir: directory, say: console.error, parameters })
  atEnd(async () => (await starting).release())
  const server = await starting
  const watcher = watchOver(server, directory)
  atEnd(() => watcher.stdin?.end('done\n'))
  const { user, password, host, port, database } = server.connection()
  return `postgres://${user}:${password}@${host}:${port}/${database}`
}
