import type { Database, Statement } from './database.ts'

/** Channel of the notifications that the control revision changed. */
export const CONTROL_CHANNEL = 'control'

const BUMP: Statement = {
  name: 'revision_bump',
  text: `WITH bumped AS (UPDATE control.revision SET revision = revision + 1 RETURNING revision)
         SELECT pg_notify('${CONTROL_CHANNEL}', revision::text) FROM bumped`,
}

const READ: Statement = { name: 'revision_read', text: 'SELECT revision FROM control.revision' }

/**
 * Makes every node drop its cached control data. Each transaction that changes the control schema calls it last,
 * because the row stays locked until the commit.
 */
export function bumpRevision(db: Database): Promise<unknown> {
  return db.query(BUMP)
}

/** Reads the revision that caches are compared with. */
export async function readRevision(db: Database): Promise<number> {
  const { rows } = await db.query<{ revision: number }>(READ)
  return rows[0]?.revision ?? 0
}

/** Polling interval: the maximum delay if a notification gets lost. */
const POLL_MS = 500

/** The subset of the owner's pool that the watch uses. */
interface Watched extends Database {
  listen(channel: string, heard: () => void): unknown
}

export interface Watch {
  /** Stops the watch. Resolves when no further callback can start. */
  stop(): Promise<void>
}

/**
 * Calls back whenever the control revision changes: immediately for most changes, and within `pollMs` (default 500 ms)
 * if a notification gets lost or after the database returns. Callbacks do not overlap. While the database is
 * unavailable, nothing is called.
 *
 * @param moved drops caches and reloads the clock offsets. If it fails, it is called again at the next poll.
 */
export async function watchRevision(
  control: Watched,
  moved: () => void | Promise<void>,
  pollMs = POLL_MS,
): Promise<Watch> {
  let known = await readRevision(control)
  let stopped = false
  let wake = () => {}
  const look = async () => {
    const revision = await readRevision(control)
    if (revision === known) return
    await moved()
    known = revision
  }
  const run = async () => {
    while (!stopped) {
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, pollMs).unref()
      })
      if (!stopped) await look().catch(() => {}) // the database is unavailable; the next poll catches up
    }
  }
  control.listen(CONTROL_CHANNEL, () => wake())
  const running = run()
  return {
    stop: () => {
      stopped = true
      wake()
      return running
    },
  }
}
