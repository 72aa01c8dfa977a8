/**
 * Tenants that write through any of the processes. Each request is repeated with its key until it has an answer, and then once
 * more. A caller rests between two writes, because on a machine without idle time every write waits for its turn, and the
 * longest one says nothing about a pause. Callers do not wait as long as `Retry-After` says, so that a pause is that of the
 * service.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { TEMPLATE } from '../../api/fixtures.ts'

/** A tenant, and what it was told that there is: identifiers by table. */
export interface Caller {
  readonly tenantId: string
  readonly secret: string
  readonly told: Readonly<Record<Written, Set<string>>>
}

export const WRITTEN = ['pass_templates', 'passes', 'cardholders', 'cards', 'card_transactions'] as const
export type Written = (typeof WRITTEN)[number]

export interface Figures {
  /** Writes that succeeded. */
  readonly writes: number
  /** Answers by status, and by code if they are refusals. */
  readonly answers: ReadonlyMap<string, number>
  /** Answers that a caller cannot be expected to handle. */
  readonly failures: readonly string[]
  /** The longest time from the first attempt of a write to its success, of each tenant. */
  readonly longestMs: ReadonlyMap<string, number>
}

export interface Traffic {
  readonly callers: readonly Caller[]
  /** Writes that succeeded so far. */
  writes(): number
  /** Whether a request failed, so that waiting for writes is in vain. */
  failed(): boolean
  /** Figures since the last call. */
  takeFigures(): Figures
  /** Resolves when each request that was begun has its answer. */
  stop(): Promise<Figures>
}

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const AGAIN_MS = 50
/** Average rest of a caller between two writes, in milliseconds. */
const REST_MS = Number(process.env.CITUS_REST_MS ?? 800)

/** Refusals that ask the caller to send the same request again. */
const TEMPORARY = new Set([409, 429, 503])

export interface CallerKey {
  readonly tenantId: string
  readonly secret: string
  /** Requests at the same time. */
  readonly lanes: number
}

/** @param urls addresses of the processes, which get requests in turn. */
export function startTraffic(urls: readonly string[], keys: readonly CallerKey[]): Traffic {
  let [turn, stopped] = [0, false]
  let writes = 0
  let longestMs = new Map<string, number>()
  let answers = new Map<string, number>()
  let failures: string[] = []
  let total = 0

  const send = async (secret: string, path: string, body: object, key: string): Promise<Answered> => {
    turn += 1
    const response = await fetch(`${urls[turn % urls.length]}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${secret}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  const note = ({ status, headers, text }: Answered, path: string): void => {
    const what = status < 400 ? String(status) : `${status} ${JSON.parse(text).error.code}`
    answers.set(what, (answers.get(what) ?? 0) + 1)
    const mayRepeat = TEMPORARY.has(status) && headers.has('Retry-After')
    if (status >= 400 && !mayRepeat) failures.push(`${path}: ${status} ${text}`)
  }

  /** Sends a request until it has an answer. Returns the text of a success. */
  const persist = async (
    secret: string,
    path: string,
    body: object,
    key: string,
  ): Promise<string | undefined> => {
    for (;;) {
      const answer = await send(secret, path, body, key)
      note(answer, path)
      if (answer.status < 400) return answer.text
      if (!TEMPORARY.has(answer.status)) return undefined
      await wait(AGAIN_MS)
    }
  }

  /** Writes, and sends the same request again, which must get the same answer. */
  const write = async ({ tenantId, secret, told }: Caller, kind: Written, path: string, body: object) => {
    const key = randomUUID()
    const began = performance.now()
    const text = await persist(secret, path, body, key)
    longestMs.set(tenantId, Math.max(longestMs.get(tenantId) ?? 0, performance.now() - began))
    if (text === undefined) throw new Error(`${path} was refused: ${failures.at(-1)}`)
    const { id }: { id: string } = JSON.parse(text)
    if (told[kind].has(id)) failures.push(`${path}: ${id} was answered for two keys`)
    told[kind].add(id)
    writes += 1
    total += 1
    const again = await persist(secret, path, body, key)
    if (again !== text) failures.push(`${path}: a repeated request got a different answer: ${again}`)
    if (!stopped) await wait(REST_MS * 2 * Math.random())
    return id
  }

  const run = async (caller: Caller): Promise<void> => {
    const template_id = await write(caller, 'pass_templates', '/v1/pass_templates', TEMPLATE)
    await persist(caller.secret, '/v1/test/funding', { amount: 1_000_000 }, randomUUID())
    while (!stopped) {
      const cardholder_id = await write(caller, 'cardholders', '/v1/cardholders', { name: 'Ada Moreau' })
      const card_id = await write(caller, 'cards', '/v1/cards', { cardholder_id, type: 'virtual' })
      const use = { card_id, amount: 1, merchant: { name: 'Diner', category_code: '5812', country: 'US' } }
      for (let n = 0; n < 4 && !stopped; n += 1) {
        await write(caller, 'passes', '/v1/passes', { template_id })
        await write(caller, 'card_transactions', '/v1/test/cards/simulate_authorization', use)
      }
    }
  }

  const callers = keys.map(({ tenantId, secret }) => ({
    tenantId,
    secret,
    told: Object.fromEntries(WRITTEN.map((kind) => [kind, new Set<string>()])) as Record<
      Written,
      Set<string>
    >,
  }))
  const running = callers.flatMap((caller, index) =>
    Array.from({ length: keys[index]!.lanes }, async () => {
      // A lane that breaks is a failure, not the end of the others.
      await run(caller).catch((error: Error) =>
        failures.push(`${error.message} ${String(error.cause ?? '')}`),
      )
    }),
  )
  const takeFigures = (): Figures => {
    const figures = { writes, answers, failures, longestMs }
    ;[writes, longestMs, answers, failures] = [0, new Map(), new Map(), []]
    return figures
  }
  return {
    callers,
    writes: () => total,
    failed: () => failures.length > 0,
    takeFigures,
    stop: async () => {
      stopped = true
      await Promise.all(running)
      return takeFigures()
    },
  }
}
