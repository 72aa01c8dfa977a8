import { expect, test } from 'vitest'
import { stopInTurn, stopTogether } from '../../runtime/platform/stopping.ts'

const KINDS = { 'in turn': stopInTurn, together: stopTogether }

test.each(Object.entries(KINDS))(
  'every part is stopped %s, also after one that fails or throws at once',
  async (_, stop) => {
    const stopped: string[] = []
    const steps = [
      () => Promise.reject(new Error('the connection was lost')),
      async () => stopped.push('worker'),
      () => {
        throw new Error('the file is gone')
      },
      () => stopped.push('pool'),
    ]
    await expect(stop(steps)).rejects.toThrow('2 parts could not be stopped')
    expect(stopped).toEqual(expect.arrayContaining(['worker', 'pool']))
    await expect(stop(steps.slice(0, 2))).rejects.toThrow('the connection was lost')
    await expect(stop(steps.slice(1, 2))).resolves.toBeUndefined()
  },
)

test('a step begins after the one before it has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const order: string[] = []
  const ended = stopInTurn([() => promise.then(() => order.push('first')), () => order.push('second')])
  resolve()
  await ended
  expect(order).toEqual(['first', 'second'])
})
