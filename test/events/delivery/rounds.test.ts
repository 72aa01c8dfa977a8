/** A tenant's rows are locked by one statement at a time: another one of the same worker would find nothing. */
import { expect, test } from 'vitest'
import type { Database } from '../../../runtime/database/database.ts'
import { DatabaseUnavailable } from '../../../runtime/database/errors.ts'
import type { Pool } from '../../../runtime/database/pool/pool.ts'
import { createAgenda } from '../../../runtime/events/delivery/agenda.ts'
import { createRounds } from '../../../runtime/events/delivery/rounds.ts'
import { createSetAside } from '../../../runtime/work/set-aside.ts'
import { createSlots } from '../../../runtime/work/slots.ts'
import { strictLog } from '../../support/strict-log.ts'

/** Rounds whose transactions are answered by `commitEarly`. */
function roundsWith(
  commitEarly: () => Promise<unknown>,
  begin: Parameters<typeof createRounds>[0]['begin'] = () => {},
) {
  const agenda = createAgenda({ atOnce: 10, notify: () => {} })
  const rounds = createRounds({
    environment: 'sandbox',
    pool: { commitEarly } as unknown as Pool,
    clock: { machine: () => 0, service: () => 0 },
    leaseClock: { now: () => 0, refresh: async () => {} },
    leaseMs: 1000,
    of: 'many',
    agenda,
    slots: createSlots(10),
    setAside: createSetAside(
      { control: {} as Database, clock: { machine: () => 0 }, log: strictLog },
      'deliveries',
      'sandbox',
    ),
    rates: { refresh: async () => {}, of: () => ({}) },
    readPin: async () => null,
    deliveriesDue: () => {},
    begin,
  })
  return { agenda, rounds }
}

const lost = new DatabaseUnavailable('the connection was lost')

test.each(['plan', 'claim'] as const)(
  'a second round to %s for a tenant does not start while one runs',
  async (what) => {
    const failures: ((reason: Error) => void)[] = []
    const { agenda, rounds } = roundsWith(() => new Promise((_resolve, reject) => failures.push(reject)))
    agenda[what]('ten_a', 1)
    const first = rounds.serve(10)
    await new Promise(setImmediate) // it has taken the tenant
    agenda[what]('ten_a', 1)
    expect(await Promise.race([rounds.serve(10), new Promise(setImmediate)])).toBe(false)
    expect(failures).toHaveLength(1)
    failures[0]!(lost)
    await expect(first).rejects.toBe(lost)
    const second = rounds.serve(10)
    await new Promise(setImmediate)
    expect(failures).toHaveLength(2)
    failures[1]!(lost)
    await expect(second).rejects.toBe(lost)
  },
)

test.each(['plan', 'claim'] as const)(
  'if what a round to %s committed is lost, an attempt that waits for its turn fails later, and the process lives',
  async (what) => {
    const rows = [{ tenant_id: 'ten_a', attempt_id: 'wdla_1', claimed: 1, tokens: 1 }]
    const answer = { value: async () => ({ rows, count: 1 }), flushed: () => Promise.reject(lost) }
    const waiting: Promise<void>[] = []
    const { agenda, rounds } = roundsWith(
      async () => answer,
      (_claimed, _token, _until, flushed) => void waiting.push(flushed),
    )
    agenda[what]('ten_a', 1)
    await rounds.serve(10)
    // A rejection that has no handler by now would end the process.
    await new Promise(setImmediate)
    expect(waiting).toHaveLength(1)
    await expect(waiting[0]).rejects.toBe(lost)
  },
)

test('a tenant gets another claim if one of its attempts ends while a claim finds no room', async () => {
  const answers: ((answer: object) => void)[] = []
  const { agenda, rounds } = roundsWith(() => new Promise((resolve) => answers.push(resolve)))
  const answer = (index: number) => {
    const rows = [{ tenant_id: 'ten_a', attempt_id: null, tokens: 5 }]
    answers[index]!({ value: async () => ({ rows, count: 1 }), flushed: async () => {} })
  }
  agenda.claim('ten_a')
  const first = rounds.serve(10)
  await new Promise(setImmediate) // the statement runs
  rounds.ended('ten_a')
  answer(0)
  await first
  expect(agenda.isEmpty).toBe(false)
  const second = rounds.serve(10)
  await new Promise(setImmediate)
  answer(1)
  await second
  expect(agenda.isEmpty).toBe(true)
})
