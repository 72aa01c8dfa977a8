/** Runs of plans in processes of their own: a run that failed leaves work behind, and several run at once. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ACTION_NAMES } from './day.ts'
import { SERVER_VARIABLE, type SimulationServer } from './server.ts'
import type { Outcome, Plan } from './universe.ts'

/** Returns the options of `npm run simulate` that make a plan. */
export function optionsOf(plan: Plan): readonly string[] {
  const { withoutFaults, withoutActions, lateMs, kinds, faults, ...numbers } = plan
  const all = {
    ...numbers,
    late: lateMs / 3_600_000,
    kinds: kinds.length === ACTION_NAMES.length ? '' : kinds.join(','),
    faults: faults.join(',') || 'none',
    'without-faults': [...withoutFaults].join(','),
    'without-actions': [...withoutActions].join(','),
  }
  return Object.entries(all).flatMap(([name, value]) => (value === '' ? [] : [`--${name}`, String(value)]))
}

/**
 * Runs a plan in a process of its own. Throws if the process ends without an outcome.
 *
 * @param server absent: the process starts its own. Universes that share one can disturb each other’s order of rows.
 */
export async function runApart(plan: Plan, server?: SimulationServer): Promise<Outcome> {
  const env = { ...process.env, ...(server && { [SERVER_VARIABLE]: JSON.stringify(server) }) }
  const child = fork(join(import.meta.dirname, 'simulate.ts'), optionsOf(plan), {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const heard = once(child, 'message')
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a run ended with ${code} and said nothing`)
  })
  return (await Promise.race([heard, ended]))[0]
}
