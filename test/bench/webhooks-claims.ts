/** What claims take in the server, by its own log. */
import { readFileSync } from 'node:fs'
import type pg from 'pg'

export interface ClaimLog {
  /** Milliseconds of each claim, of planned events or from the queue, preparing included, since this was asked last. */
  take(): readonly number[]
  stop(): Promise<void>
}

const SWITCH = ['log_min_duration_statement', 'log_parameter_max_length']

/** `[812] LOG:  duration: 0.274 ms  execute webhook_ready_claim: WITH …`; preparing and binding have lines of their own. */
const LINE =
  /\[(\d+)\] LOG: {2}duration: ([\d.]+) ms {2}(parse|bind|execute) (?:webhook_ready_claim|webhook_events_plan):/g

/** Sums what each connection spent on a claim, from preparing to executing. */
function readTimes(text: string): number[] {
  const begun = new Map<string, number>()
  return [...text.matchAll(LINE)].flatMap(([, connection = '', time, step]) => {
    const spent = (begun.get(connection) ?? 0) + Number(time)
    begun.set(connection, step === 'execute' ? 0 : spent)
    return step === 'execute' ? [spent] : []
  })
}

/** Has the server log every statement with its time. */
export async function openClaimLog(admin: pg.Client, path: string): Promise<ClaimLog> {
  for (const name of SWITCH) await admin.query(`ALTER SYSTEM SET ${name} = 0`)
  await admin.query('SELECT pg_reload_conf()')
  let read = readFileSync(path).length
  return {
    take: () => {
      const log = readFileSync(path)
      const times = readTimes(log.toString('utf8', read))
      read = log.length
      return times
    },
    stop: async () => {
      for (const name of SWITCH) await admin.query(`ALTER SYSTEM RESET ${name}`)
      await admin.query('SELECT pg_reload_conf()')
    },
  }
}
