/** What a merchant does with streams of events. */
import { BEFORE_EVENTS } from '../../../runtime/events/emit/queries.ts'
import { fail, mustEqual } from '../checks/must.ts'
import type { Follower } from '../follower.ts'
import type { Merchant } from '../merchant.ts'
import { TEMPLATE } from '../templates.ts'
import { type Actions, type Drawn, must, walk } from './action.ts'

/** How long a merchant follows the stream at a time. */
const FOLLOWED_MS = 90_000

/** A comment comes every 15 seconds. Polls of machines take ten times as long as in production: 5 seconds. */
const SILENT_MS = 21_000
const SOON_MS = 12_000

/** Most steps while a stream waits for two comments. A tenth is usual. */
const QUIET_STEPS = 15_000

/** Events at the same time: the last of them can be committed while the stream reads the others. */
const BURSTS = [1, 3, 5]

const UNKNOWN_EVENT = 'evt_00000000000000000000000001'

/** Follows the stream for a while, after the last event that it saw. */
async function follow(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { streams, wait, isExact } = merchant
  if (!isExact) return streams[0]!.during(() => wait(FOLLOWED_MS))
  await streams[0]!.during(() => isInTime(merchant, streams[0]!))
  await beginsAtTheEnd(merchant)
  if (pick % 2 === 0) await beginsAnywhere(merchant)
}

/** An event comes as soon as it is committed, and a stream without events is not silent. */
async function isInTime({ sandbox, wait, name }: Merchant, stream: Follower): Promise<void> {
  await wait(1000)
  for (const count of BURSTS) {
    const make = async () => must(await sandbox.post('/v1/pass_templates', TEMPLATE), 201, 'a template').id
    const made: readonly string[] = await Promise.all(Array.from({ length: count }, make))
    await wait(1500)
    const missing = made.find((id) => !stream.seen.some(({ data }) => data.includes(id)))
    if (missing) fail(`the stream of ${name} does not have an event of ${count} at once`)
  }
  let { comments } = stream
  const { steps } = stream
  const count = () => stream.seen.length + stream.comments
  for (let [silentMs, before, left] = [0, count(), 2]; left > 0; silentMs += 1000) {
    await wait(1000)
    if (silentMs > SILENT_MS) fail(`the stream of ${name} is silent for ${silentMs} ms`)
    if (count() === before) continue
    if (stream.comments > comments && silentMs < SOON_MS)
      fail(`the stream of ${name} has a comment after ${silentMs} ms`)
    comments = stream.comments
    ;[silentMs, before, left] = [0, count(), left - 1]
  }
  if (stream.steps - steps > QUIET_STEPS)
    fail(`the stream of ${name} does not rest: ${stream.steps - steps} steps without an event`)
}

/** A stream that does not resume has no event that was there before. */
async function beginsAtTheEnd({ sandbox, openStream, wait, streams, name }: Merchant): Promise<void> {
  const before = must(await sandbox.send('GET', '/v1/events?limit=100'), 200, 'events').data
  const stream = openStream()
  streams.push(stream)
  await stream.during(() => wait(500))
  const old = new Set(before.map(({ id }: { readonly id: string }) => id))
  const found = stream.seen.find(({ id }) => old.has(id))
  if (found) fail(`a new stream of ${name} has ${found.type}, which was there before`)
}

/** A stream resumes before all events, and not after an event that nobody knows. */
async function beginsAnywhere({ sandbox, openStream, wait, streams, name }: Merchant): Promise<void> {
  const all = await walk(sandbox, '/v1/events', 100)
  const stream = openStream(BEFORE_EVENTS)
  streams.push(stream)
  await stream.during(() => wait(2000))
  const seen = new Set(stream.seen.map(({ id }) => id))
  const missing = all.find(({ id }) => !seen.has(id))
  if (missing) fail(`a stream of all events of ${name} does not have ${missing.type}`)
  const refused = await openStream(UNKNOWN_EVENT)
    .during(() => wait(500))
    .catch(({ message }: Error) => message)
  mustEqual(refused, `a stream of ${name} was answered 400`, 'the answer to an event that nobody knows')
}

export const STREAM_ACTIONS: Actions = { follow: { times: 1, act: follow } }
