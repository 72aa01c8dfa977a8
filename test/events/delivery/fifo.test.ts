/** Ordered endpoints: one event at a time, in the order of the sequence, whatever fails, is lost or is skipped. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { readEvent } from '../../../runtime/events/emit/queries.ts'
import { readBlocks, skipEvent } from '../../../runtime/events/webhook-endpoints/blocked.ts'
import { lockEndpoint } from '../../../runtime/events/webhook-endpoints/queries.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { type Endpoint, MINUTE, openStage, START, type Stage } from './setup.ts'

const stages: Stage[] = []
let receiver: Receiver
let tenantId: string
beforeAll(async () => {
  stages.push(await openStage(), await openStage(6, true))
})
beforeEach(async () => {
  receiver = await openReceiver()
  tenantId = newId('ten')
  for (const stage of stages) stage.clock.now = START
})
afterEach(async () => {
  for (const stage of stages) await stage.dismiss()
  receiver.close()
})
afterAll(async () => {
  for (const stage of stages) await stage.close()
})

const idsAt = (path: string) => receiver.on(path).map(({ body }) => JSON.parse(body).id as string)

/** Blocks and their ends that other endpoints were told of: the type, the event, and how many waited. */
const noticesAt = (path: string) =>
  receiver
    .on(path)
    .map(({ body }) => JSON.parse(body))
    .filter(({ type }) => type.endsWith('blocked'))
    .map(({ type, data: { webhook_endpoint: told } }) => {
      const { event_id, waiting_events } = told.blocked ?? told.unblocked
      return [type, event_id, waiting_events]
    })

const order = (stage: Stage) =>
  stage.addEndpoint(tenantId, `${receiver.url}/fifo`, ['*'], { delivery: 'fifo' })

const blocks = (stage: Stage, { id }: Endpoint) => readBlocks(stage.database.sandbox, tenantId, id)

const block = async (stage: Stage, endpoint: Endpoint) => (await blocks(stage, endpoint))[0]

/** Skips an event as a request does: nothing stays if it is refused. */
const skip = async (stage: Stage, { id }: Endpoint, event: string): Promise<boolean> => {
  const refused = new Error('refused')
  const skipped = stage.database.sandbox.transaction(async (tx) => {
    const endpoint = (await lockEndpoint(tx, tenantId, id))!
    const skipped = (await readEvent(tx, tenantId, event))!
    const { clock } = stage
    const moments = { now: clock.now, machineNow: clock.machine() }
    if (!(await skipEvent(tx, tenantId, endpoint, skipped, moments))) throw refused
    return true
  })
  return skipped.catch((error: unknown) => {
    if (error !== refused) throw error
    return false
  })
}

test.each([0, 1])(
  'events arrive one at a time and in order; a failure holds up its endpoint alone (database %i)',
  async (which) => {
    const stage = stages[which]!
    const endpoint = await order(stage)
    await stage.addEndpoint(tenantId, `${receiver.url}/other`)
    let most = 0
    let isDown = false
    receiver.answer = ({ path }) => {
      if (path === '/fifo') most = Math.max(most, receiver.open())
      return path === '/fifo' && isDown ? 404 : 204
    }
    for (const worker of [1, 2]) stage.work({ concurrency: 10 * worker })
    const first = await stage.emit(tenantId, 5)
    await until('the first events', () => idsAt('/fifo').length === 5)
    isDown = true
    const second = await stage.emit(tenantId, 3)
    await until('a refusal', () => idsAt('/fifo').length === 6)
    await until('the other endpoint', () => idsAt('/other').length === 9)
    await stage.drained(tenantId)
    expect(await block(stage, endpoint)).toMatchObject({
      event_id: second[0],
      response_status: 404,
      since: START,
      due_at: START + 5 * MINUTE,
    })
    expect(idsAt('/fifo')).toHaveLength(6)
    isDown = false
    stage.clock.now = START + 5 * MINUTE
    await until('the rest', () => idsAt('/fifo').length === 9)
    expect(idsAt('/fifo')).toEqual([...first, second[0], ...second])
    await stage.drained(tenantId)
    expect(await block(stage, endpoint)).toBeUndefined()
    expect(await stage.attempts(endpoint)).toHaveLength(9)
    await until('the end of the block', () => idsAt('/other').length === 10)
    expect(noticesAt('/other')).toEqual([
      ['webhook_endpoint.blocked', second[0], 2],
      ['webhook_endpoint.unblocked', second[0], undefined],
    ])
  },
)

test('an event is skipped, or retried at once, and the next one follows', async () => {
  const [stage] = stages as [Stage]
  const endpoint = await order(stage)
  receiver.answer = () => 500
  stage.work()
  const ids = await stage.emit(tenantId, 4)
  const isBlockedBy = (id: string | undefined) => async () => (await block(stage, endpoint))?.event_id === id
  await until('a failure', isBlockedBy(ids[0]))
  expect(await skip(stage, endpoint, ids[1]!)).toBe(false)
  expect(await isBlockedBy(ids[0])()).toBe(true)
  expect(await skip(stage, endpoint, ids[0]!)).toBe(true)
  await until('the next failure', isBlockedBy(ids[1]))
  receiver.answer = () => 204
  await stage.retry(tenantId, (await block(stage, endpoint))!.attempt_id)
  await until('the rest', () => idsAt('/fifo').length === 5)
  expect(idsAt('/fifo')).toEqual([ids[0], ...ids.slice(1, 2), ...ids.slice(1)])
})

test('a disabled endpoint continues where it stopped when it is enabled, and can skip that event before', async () => {
  const [stage] = stages as [Stage]
  const endpoint = await order(stage)
  receiver.answer = () => 500
  stage.work()
  const ids = await stage.emit(tenantId, 4)
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await until(`attempt ${attempt}`, () => receiver.got.length === attempt)
    await stage.drained(tenantId)
    stage.clock.now += 300 * MINUTE
  }
  expect(await stage.endpoint(endpoint)).toMatchObject({
    status: 'disabled',
    disabled_reason: 'retry_exhausted',
  })
  expect(new Set(idsAt('/fifo'))).toEqual(new Set([ids[0]]))
  expect(await skip(stage, endpoint, ids[0]!)).toBe(true)
  receiver.got.length = 0
  receiver.answer = () => 204
  await stage.changeEndpoint(endpoint, 'enable')
  await until('the rest', () => idsAt('/fifo').length === 3)
  expect(idsAt('/fifo')).toEqual(ids.slice(1))
})

test('the sender of an ordered endpoint is lost: its event is sent again, and the order stays', async () => {
  const [stage] = stages as [Stage]
  await order(stage)
  receiver.answer = () => (receiver.got.length === 3 ? 'hang' : 204)
  stage.work({ leaseMs: 1500 })
  const ids = await stage.emit(tenantId, 6)
  await until('the third event', () => receiver.got.length === 3)
  await stage.dismiss()
  stage.work({ leaseMs: 1500 })
  await until('all events', () => new Set(idsAt('/fifo')).size === 6)
  expect(idsAt('/fifo')).toEqual([...ids.slice(0, 3), ...ids.slice(2)])
})

test.each([0, 1])(
  'with keys, the events of one object wait for each other, and a blocked object holds up no other one (database %i)',
  async (which) => {
    const stage = stages[which]!
    const endpoint = await stage.addEndpoint(tenantId, `${receiver.url}/fifo`, ['pass.revoked'], {
      delivery: 'fifo',
      fifo_key: 'object',
    })
    await stage.addEndpoint(tenantId, `${receiver.url}/notices`, [
      'webhook_endpoint.blocked',
      'webhook_endpoint.unblocked',
    ])
    const down = new Set(['pass_0', 'pass_2'])
    const keyOf = (body: string) => JSON.parse(body).data.pass.id as string
    const open = new Map<string, number>()
    let [mostOfOne, most] = [0, 0]
    receiver.answer = async ({ path, body }) => {
      if (path !== '/fifo') return 204
      const key = keyOf(body)
      open.set(key, (open.get(key) ?? 0) + 1)
      mostOfOne = Math.max(mostOfOne, open.get(key)!)
      most = Math.max(most, open.size)
      await new Promise(setImmediate)
      if (open.get(key) === 1) open.delete(key)
      else open.set(key, open.get(key)! - 1)
      return down.has(key) ? 503 : 204
    }
    for (const worker of [1, 2]) stage.work({ concurrency: 100 * worker })
    const rounds: string[][] = []
    for (let round = 0; round < 4; round += 1) rounds.push(await stage.emit(tenantId, 6))
    const of = (key: string) => rounds.map((ids) => ids[Number(key.at(-1))]!)
    const gotOf = (key: string) =>
      receiver
        .on('/fifo')
        .filter(({ body }) => keyOf(body) === key)
        .map(({ body }) => JSON.parse(body).id as string)
    const notices = () => receiver.on('/notices').map(({ body }) => JSON.parse(body))
    await until(
      'the other objects and two notices',
      () => idsAt('/fifo').length === 18 && notices().length === 2,
    )
    await stage.drained(tenantId)
    for (const key of ['pass_1', 'pass_3', 'pass_4', 'pass_5']) expect(gotOf(key)).toEqual(of(key))
    expect([gotOf('pass_0'), gotOf('pass_2')]).toEqual([[rounds[0]![0]], [rounds[0]![2]]])
    expect(await blocks(stage, endpoint)).toMatchObject([
      { key: 'pass_0', event_id: rounds[0]![0], response_status: 503, waiting: 3, since: START },
      { key: 'pass_2', event_id: rounds[0]![2], response_status: 503, waiting: 3, since: START },
    ])
    expect(
      notices()
        .map(({ type, data }) => [type, data.webhook_endpoint.blocked.key])
        .toSorted(),
    ).toEqual([
      ['webhook_endpoint.blocked', 'pass_0'],
      ['webhook_endpoint.blocked', 'pass_2'],
    ])
    // One is skipped, and the next event of its object is sent. The other one is delivered when it is due.
    down.delete('pass_2')
    expect(await skip(stage, endpoint, rounds[1]![2]!)).toBe(false)
    expect(await skip(stage, endpoint, rounds[0]![2]!)).toBe(true)
    await until('the skipped object', () => gotOf('pass_2').length === 4)
    expect(gotOf('pass_2')).toEqual(of('pass_2'))
    down.clear()
    stage.clock.now = START + 5 * MINUTE
    await until('the blocked object', () => gotOf('pass_0').length === 5 && notices().length === 4)
    expect(gotOf('pass_0')).toEqual([rounds[0]![0], ...of('pass_0')])
    expect(
      notices()
        .slice(2)
        .map(({ type, data }) => [type, data.webhook_endpoint.unblocked.key]),
    ).toEqual([
      ['webhook_endpoint.unblocked', 'pass_2'],
      ['webhook_endpoint.unblocked', 'pass_0'],
    ])
    expect(await blocks(stage, endpoint)).toEqual([])
    await until('nothing to be held', async () => (await stage.count('webhook_held_events', tenantId)) === 0)
    expect(mostOfOne).toBe(1)
    expect(most).toBeGreaterThan(1)
  },
)

test('filters leave out events by a property, in both forms of planning and in order', async () => {
  for (const stage of stages) {
    receiver.got.length = 0
    const equals = ['pass_1', 'pass_3']
    const filters = [{ property: 'data.pass.id', equals }]
    const choose = (path: string, choices: object) =>
      stage.addEndpoint(tenantId, `${receiver.url}${path}`, ['pass.revoked'], choices)
    await choose('/some', { filters })
    await choose('/fifo', { filters, delivery: 'fifo' })
    await choose('/none', { filters: [...filters, { property: 'data.pass.status', equals: ['active', 1] }] })
    await choose('/absent', { filters: [{ property: 'data.pass.status', equals: [null] }] })
    stage.work()
    const ids = await stage.emit(tenantId, 5)
    await until('the deliveries', () => receiver.got.length === 9)
    await stage.drained(tenantId)
    expect(idsAt('/some').toSorted()).toEqual([ids[1], ids[3]])
    expect(idsAt('/fifo')).toEqual([ids[1], ids[3]])
    expect(idsAt('/none')).toEqual([])
    expect(idsAt('/absent')).toHaveLength(5)
  }
})

test('an extended schedule repeats over three days', async () => {
  const [stage] = stages as [Stage]
  const endpoint = await stage.addEndpoint(tenantId, receiver.url, ['pass.revoked'], {
    retry_schedule: 'extended',
  })
  receiver.answer = () => 500
  stage.work()
  await stage.emit(tenantId)
  for (const [attempt, minutes] of [0, 5, 120, 1440, 4320].entries()) {
    stage.clock.now = START + minutes * MINUTE - 1
    await stage.drained(tenantId)
    stage.clock.now += 1
    await until(`attempt ${attempt + 1}`, () => receiver.got.length === attempt + 1)
    await stage.drained(tenantId)
  }
  const scheduled = (await stage.attempts(endpoint)).map(
    ({ scheduled_at }) => (scheduled_at - START) / MINUTE,
  )
  expect(scheduled).toEqual([0, 5, 120, 1440, 4320])
  expect((await stage.endpoint(endpoint)).status).toBe('disabled')
})
