/** Hints between processes: due deliveries are told of by NOTIFY, after the commit and many at once. */
import type { Environment } from '../contract.ts'
import type { Database, Statement } from '../db/database.ts'
import type { Hints } from './hints.ts'

const CHANNEL = 'events'

const NOTIFY: Statement = { name: 'events_notify', text: 'SELECT pg_notify($1, $2)' }

/** One notice stands for everything that was committed meanwhile. */
const PAUSE_MS = 20

/** The owner's pool, as far as this needs it. */
interface Noticeboard extends Database {
  listen(channel: string, heard: (payload?: string) => void): unknown
}

export interface Notices {
  /** Tells this process at once and the others soon. */
  post(environment: Environment): void
}

/**
 * Passes hints on to other processes, and theirs to this one. Outside the transaction: NOTIFY within it would make all
 * commits of the database wait for each other. What is lost with a process is found by the next poll.
 */
export function connectNotices(control: Noticeboard, hints: Hints): Notices {
  const posting = new Set<Environment>()
  control.listen(CHANNEL, (payload) => {
    // Without a name the connection is new, and anything may have been missed.
    if (payload !== 'live') hints.tell('sandbox')
    if (payload !== 'sandbox') hints.tell('live')
  })
  const post = (environment: Environment) => {
    hints.tell(environment)
    if (posting.has(environment)) return
    posting.add(environment)
    setTimeout(() => {
      posting.delete(environment)
      control.query(NOTIFY, [CHANNEL, environment]).catch(() => {}) // the database is away: the poll finds it
    }, PAUSE_MS).unref()
  }
  return { post }
}
