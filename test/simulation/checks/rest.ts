/** What a machine does at rest: while nothing is due, it looks for work and finds none; when it has stopped, nothing is left. */
import type { SimulatedService } from '../service.ts'
import { fail } from './must.ts'

/** Names of statements that look for work, or read what workers know. */
const SEARCH =
  /(_find(_\w+)?|_due(_\w+)?|_held(_\w+)?|_overdue(_\w+)?|_ahead|_behind|_crossed|_awaiting|_expired|_sweep|_rate_lifts|_waiting_promote|faults_in_force|lease_clock|wal_flush)$/

/** A bank payment that is not settled is looked at, and each list of sanctions is compared once. */
const BANK = /^(bank_transfers|payouts)_(lock|update)$|^pins_read$|^screenings_end$/

/** The sweep of what is set aside reads it now and then; a worker that has set something aside reads it with each look. */
const isSweep = (name: string, count: number) => name === 'set_aside_read' && count <= 2

/** More than any search at its usual pace. */
const MOST = 120

/**
 * Only searches run, each at its pace.
 *
 * @param answered how often each statement ran in two minutes. One with a name has no spaces.
 */
export function restIsQuiet(answered: ReadonlyMap<string, number>): void {
  for (const [name, count] of answered) {
    if (name.includes(' ') || name === 'COMMIT' || BANK.test(name) || isSweep(name, count)) continue
    if (!SEARCH.test(name)) fail(`${name} ran ${count} times while nothing was due`)
    if (count > MOST) fail(`${name} ran ${count} times in two minutes while nothing was due`)
  }
}

/** A process that was told to end has finished its deliveries and its turns. */
export function hasFinished({ workers, queue }: Pick<SimulatedService, 'workers' | 'queue'>): void {
  for (const [environment, worker] of Object.entries(workers)) {
    const { underWay } = worker.stats()
    if (underWay > 0) fail(`a process ended with ${underWay} deliveries of ${environment} in progress`)
  }
  for (const { name, stats } of queue)
    for (const [environment, { running }] of Object.entries(stats()))
      if (running > 0) fail(`a process ended with ${running} turns of ${name} in ${environment} in progress`)
}
