import type { Database, Statement } from '../../database/database.ts'
import { withinDeadline } from './shared-read.ts'

const PING: Statement = { text: 'SELECT 1' }

/** Keeps the readiness probe fast. */
const DEADLINE_MS = 2000

/**
 * Whether every database answers within `deadlineMs`, two seconds by default. Redis does not count: without it, limits
 * are only less exact.
 */
export async function databasesAnswer(
  databases: readonly Database[],
  deadlineMs: number = DEADLINE_MS,
): Promise<boolean> {
  const answers = Promise.all(databases.map((database) => database.query(PING))).then(
    () => true,
    () => false,
  )
  return (await withinDeadline(answers, deadlineMs)) ?? false
}
