import { expect, test } from 'vitest'
import { createAgenda } from '../../runtime/delivery/agenda.ts'

test('a tenant with more to plan than fits into a visit comes again after a rest, whoever asks for it', async () => {
  let ring = () => {}
  const rung = new Promise<void>((resolve) => {
    ring = resolve
  })
  const agenda = createAgenda({ atOnce: 10, ring: () => ring() })
  agenda.planLater('ten_a')
  agenda.plan('ten_a', 5)
  agenda.plan('ten_b', 5)
  expect(agenda.takePlans(100)).toEqual(['ten_b'])
  expect(agenda.isEmpty).toBe(true)
  await rung
  expect(agenda.takePlans(100)).toEqual(['ten_a'])
  agenda.stop()
})
