import type { Database, Statement } from '../../database/database.ts'

const PING: Statement = { text: 'SELECT 1' }

/** Who asks whether we are ready wants to know soon. */
const DEADLINE_MS = 2000

/**
 * Whether every database answers, within two seconds. Redis is not asked after: without it limits are less exact, and
 * nothing else.
 */
export async function databasesAnswer(
  databases: readonly Database[],
  deadlineMs: number = DEADLINE_MS,
): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, false)
  })
  const answers = Promise.all(databases.map((database) => database.query(PING))).then(
    () => true,
    () => false,
  )
  const ready = await Promise.race([answers, late])
  clearTimeout(timer)
  return ready
}
