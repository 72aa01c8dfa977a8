/** A client that follows the stream of events (server-sent events): it resumes after the last event that it saw. */
import type { Readable } from 'node:stream'
import inject from 'light-my-request'
import { fail, mustEqual } from './checks/must.ts'
import { type ClientParts, type Credential, chooseMachine, noteRequest, PATIENCE_MS } from './client.ts'
import { runOn } from './clockwork/machines.ts'

/** An event as the stream sent it. */
export interface FollowedEvent {
  readonly id: string
  readonly type: string
  /** JSON. */
  readonly data: string
}

export interface Follower {
  /** Where the first connection began: the identifier of the event before it. Undefined before that. */
  readonly start: string | undefined
  /** Everything that came, in order, over all connections. */
  readonly seen: readonly FollowedEvent[]
  /** Number of comments that came. */
  readonly comments: number
  /** Number of steps of the universe so far. */
  readonly steps: number
  /** Follows the stream until the work is done, over as many connections as it takes. */
  during(work: () => Promise<void>): Promise<void>
}

/** A part of a stream: an event, or a position or a comment without one. */
interface Block {
  readonly id: string | undefined
  readonly event: FollowedEvent | undefined
}

/** Reads a block as the specification says (WHATWG HTML, section 9.2.6). */
function readBlock(text: string): Block {
  const fields = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!
    if (name === '') continue
    if (fields.has(name!) || !['id', 'event', 'data'].includes(name!)) fail(`a stream has the line ${line}`)
    fields.set(name!, value!)
  }
  const [id, type, data] = ['id', 'event', 'data'].map((name) => fields.get(name))
  if (data === undefined) return { id, event: undefined }
  if (id === undefined || type === undefined) fail(`a stream has an event without an id or a type: ${text}`)
  return { id, event: { id, type, data } }
}

const RETRY_MS = 1000

/** Most attempts to connect, one after the other. */
const MOST_TRIES = 200

/** @param after the last event that it saw; undefined: it begins at the end. */
export function createFollower(
  parts: ClientParts,
  { name, environment, secret, version }: Credential,
  after?: string,
): Follower {
  const { scheduler, weather, network } = parts
  const seen: FollowedEvent[] = []
  let start: string | undefined
  let last = after
  let comments = 0
  let isFollowing = false

  const hear = (text: string) => {
    const { id, event } = readBlock(text)
    if (event) seen.push(event)
    else comments += 1
    last = id ?? last
    start ??= last
  }

  const open = async () => {
    await scheduler.sleep(network.latency())
    if (weather.strikes('lost')) return undefined
    if (parts.machines().length === 0) return undefined
    const running = chooseMachine(parts)
    const { machine, service } = running
    const headers = {
      ...{ host: 'api.invalid', authorization: `Bearer ${secret}` },
      ...(version !== undefined && { 'service-version': version }),
      ...(last !== undefined && { 'last-event-id': last }),
    }
    const opening = runOn(machine, () =>
      inject(service.listeners[environment], {
        ...{ method: 'GET', url: '/v1/events/stream', headers },
        payloadAsStream: true,
      }).then((response) => response),
    )
    // On a machine that died, nothing goes on, and nothing is left to close.
    const isGone = machine.death.catch(() => {})
    const close = () =>
      Promise.race([
        opening.then(
          ({ raw }) => runOn(machine, () => raw.res.destroy()),
          () => {}, // it never began
        ),
        isGone,
      ])
    const late = scheduler.sleep(PATIENCE_MS).then(() => undefined)
    const response = await Promise.race([opening, machine.death, late]).catch(() => undefined)
    if (response?.statusCode === 200) {
      const body = response.stream()
      noteRequest(running, new Promise((ended) => body.once('close', ended)))
      return { close, isGone, response, body }
    }
    await close()
    const status = response?.statusCode ?? 'unknown'
    scheduler.note(`${name} GET /v1/events/stream ${status}`)
    if (response && response.statusCode < 500 && response.statusCode !== 429)
      fail(`a stream of ${name} was answered ${status}`)
    return undefined
  }

  /** Hears a stream until either side closes it. Part of what was sent can get lost with the connection. */
  const listen = async (body: Readable, isLost: Promise<unknown>, isDone: Promise<unknown>) => {
    let text = ''
    let isOver = false
    const ended = new Promise<void>((resolve) => {
      body.on('data', (bytes: Buffer) => {
        if (isOver) return
        const isCut = weather.strikes('answerLost')
        text += isCut ? bytes.subarray(0, bytes.length / 2).toString() : bytes.toString()
        const blocks = text.split('\n\n')
        text = blocks.pop()!
        for (const block of blocks) hear(block)
        isOver = isCut
        if (isCut) resolve()
      })
      body.on('end', resolve)
      body.on('error', () => resolve())
    })
    await Promise.race([ended, isLost, isDone])
    isOver = true
  }

  return {
    get start() {
      return start
    },
    seen,
    get comments() {
      return comments
    },
    get steps() {
      return scheduler.steps
    },
    async during(work) {
      if (isFollowing) return work()
      isFollowing = true
      let isDone = false
      const working = work().finally(() => {
        isDone = true
      })
      const done = working.catch(() => {}) // thrown below
      const follow = async () => {
        for (let tries = 1; !isDone; tries += 1) {
          if (tries > MOST_TRIES) fail(`no stream of ${name} after ${MOST_TRIES} attempts`)
          const connection = await open()
          if (connection) {
            const { response, body, isGone, close } = connection
            mustEqual(response.headers['content-type'], 'text/event-stream', 'the type of a stream')
            tries = 0
            await listen(body, isGone, done)
            await close()
          }
          if (!isDone) await scheduler.sleep(RETRY_MS)
        }
      }
      await Promise.all([follow(), working]).finally(() => {
        isFollowing = false
      })
    },
  }
}
