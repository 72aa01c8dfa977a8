/** Processor time that processes have used, in seconds. */
import { readdirSync, readFileSync } from 'node:fs'

/** Parent, own time, and time of children that have ended; times in hundredths of a second. */
function statOf(pid: number | string) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').map(Number)
  return { parent: stat[1]!, own: stat[11]! + stat[12]!, ended: stat[13]! + stat[14]! }
}

export const processorSeconds = (pid: number): number => statOf(pid).own / 100

/** A statement whose row has the process of the session as `pid`. */
export const SESSION = 'SELECT pg_backend_pid() AS pid'

/** Of all processes of a PostgreSQL server on this machine. @param session one of them (`SESSION`). */
export function serverSeconds(session: number): number {
  const { parent: postmaster } = statOf(session)
  const { own, ended } = statOf(postmaster)
  let ticks = own + ended
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = statOf(id)
      if (stat.parent === postmaster) ticks += stat.own
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error // it has ended meanwhile
    }
  }
  return ticks / 100
}
