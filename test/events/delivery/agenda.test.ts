import { expect, test } from 'vitest'
import { createAgenda } from '../../../runtime/events/delivery/agenda.ts'

test('a tenant with more to plan than fits into a visit comes again after a rest, whoever asks for it', async () => {
  let notify = () => {}
  const rung = new Promise<void>((resolve) => {
    notify = resolve
  })
  const agenda = createAgenda({ atOnce: 10, notify: () => notify() })
  agenda.planLater('ten_a')
  agenda.plan('ten_a', 5)
  agenda.plan('ten_b', 5)
  expect(agenda.takePlans(100, new Set())).toEqual(['ten_b'])
  expect(agenda.isEmpty).toBe(true)
  await rung
  expect(agenda.takePlans(100, new Set())).toEqual(['ten_a'])
  agenda.stop()
})

test('a worker that is busy with a tenant continues with it alone', () => {
  const agenda = createAgenda({ atOnce: 10, notify: () => {} })
  for (const tenantId of ['ten_a', 'ten_b']) {
    agenda.plan(tenantId, 1)
    agenda.claim(tenantId)
  }
  const busy = new Set(['ten_a'])
  expect([agenda.takePlans(100, busy), agenda.takeClaims(busy)]).toEqual([['ten_b'], ['ten_b']])
  expect([agenda.takePlans(100, busy), agenda.takeClaims(busy), agenda.isEmpty]).toEqual([[], [], false])
  expect([agenda.takePlans(100, new Set()), agenda.takeClaims(new Set())]).toEqual([['ten_a'], ['ten_a']])
  agenda.stop()
})
