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

test.each(['plan', 'claim'] as const)(
  'a second round to %s for a tenant does not start while one runs',
  async (what) => {
    const failures: ((reason: Error) => void)[] = []
    const commitEarly = () => new Promise((_resolve, reject) => failures.push(reject))
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
      begin: () => {},
    })
    agenda[what]('ten_a', 1)
    const first = rounds.serve(10)
    await new Promise(setImmediate) // it has taken the tenant
    agenda[what]('ten_a', 1)
    expect(await Promise.race([rounds.serve(10), new Promise(setImmediate)])).toBe(false)
    expect(failures).toHaveLength(1)
    const lost = new DatabaseUnavailable('the connection was lost')
    failures[0]!(lost)
    await expect(first).rejects.toBe(lost)
    const second = rounds.serve(10)
    await new Promise(setImmediate)
    expect(failures).toHaveLength(2)
    failures[1]!(lost)
    await expect(second).rejects.toBe(lost)
  },
)
