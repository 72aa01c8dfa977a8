import type { Database, Statement } from './database.ts'

/** The channel on which it is notified that the control revision moved. */
export const CONTROL_CHANNEL = 'control'

const BUMP: Statement = {
  name: 'revision_bump',
  text: `WITH bumped AS (UPDATE control.revision SET revision = revision + 1 RETURNING revision)
         SELECT pg_notify('${CONTROL_CHANNEL}', revision::text) FROM bumped`,
}

const READ: Statement = { name: 'revision_read', text: 'SELECT revision FROM control.revision' }

/**
 * Makes every node drop what it has cached of the control schema. Belongs into the transaction of each change there;
 * last in it, because the row stays locked until the end.
 */
export function bumpRevision(db: Database): Promise<unknown> {
  return db.query(BUMP)
}

/** The revision that caches are compared with. */
export async function readRevision(db: Database): Promise<number> {
  const { rows } = await db.query<{ revision: number }>(READ)
  return rows[0]?.revision ?? 0
}

/** How late a node may learn of a change whose notification got lost. */
const POLL_MS = 500

/** The owner's pool, as far as the watch needs it. */
interface Watched extends Database {
  listen(channel: string, heard: () => void): unknown
}

export interface Watch {
  /** Resolves when nothing more will be called. */
  stop(): Promise<void>
}

/**
 * Calls back whenever the control revision moved: at once after most changes, within half a second after all, and after
 * the database came back. The call is awaited before the revision is looked at again; while the database is away
 * nothing is called.
 *
 * @param moved drops caches and reads the clock's offsets again; when it fails it is called again.
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
      if (!stopped) await look().catch(() => {}) // the database is away; the next look finds what was missed
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
