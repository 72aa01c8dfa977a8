/** Traffic during an upgrade: issues passes with idempotency keys, reads them, and sends requests again, at any node. */
import { setTimeout as wait } from 'node:timers/promises'

const CALLERS = 6

export interface Issued {
  readonly id: string
  /** Idempotency key. */
  readonly key: string
}

export interface Traffic {
  /** Nodes that get requests, as a load balancer would choose them in turn. */
  readonly nodes: Set<string>
  /** Answers that are neither a success nor 503 with Retry-After. */
  readonly failures: readonly string[]
  /** Every pass whose creation was answered with a success. */
  readonly issued: readonly Issued[]
  /** Number of requests that got 503 with Retry-After and were sent again. */
  postponed(): number
  /** Number of answered requests, and the longest time until an answer in milliseconds, since the last call. */
  takeFigures(): { readonly answered: number; readonly slowestMs: number }
  stop(): Promise<void>
}

interface Call {
  readonly path: string
  readonly body?: object
  readonly key?: string
}

/** @param secret API key. */
export function startTraffic(first: string, secret: string, templateId: string): Traffic {
  const nodes = new Set([first])
  const failures: string[] = []
  const issued: Issued[] = []
  let [turn, postponed, answered, slowestMs, stopped] = [0, 0, 0, 0, false]

  const nextNode = () => {
    turn += 1
    return [...nodes][turn % nodes.size]!
  }

  /** Sends a request until it is not postponed. Returns the body of a success. */
  const send = async ({ path, body, key }: Call): Promise<string | undefined> => {
    for (;;) {
      const url = nextNode()
      const began = performance.now()
      try {
        const response = await fetch(`${url}${path}`, {
          method: body ? 'POST' : 'GET',
          headers: {
            Authorization: `Bearer ${secret}`,
            ...(body && { 'Content-Type': 'application/json' }),
            ...(key && { 'Idempotency-Key': key }),
          },
          ...(body && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        answered += 1
        slowestMs = Math.max(slowestMs, performance.now() - began)
        if (response.ok) return text
        const after = response.headers.get('Retry-After')
        if (response.status !== 503 || after === null) {
          failures.push(`${url} ${path}: ${response.status} ${text}`)
          return undefined
        }
        postponed += 1
        await wait(Number(after) * 1000)
      } catch (error) {
        failures.push(`${url} ${path}: ${String(error)} ${String((error as Error).cause ?? '')}`)
        return undefined
      }
    }
  }

  /** Issues a pass, sends the same request again, and reads the pass: all three must show the same. */
  const exercise = async () => {
    const key = crypto.randomUUID()
    const call = { path: '/v1/passes', body: { template_id: templateId, metadata: { key } }, key }
    const created = await send(call)
    if (created === undefined) return
    const { id }: { id: string } = JSON.parse(created)
    issued.push({ id, key })
    if ((await send(call)) !== created) failures.push(`${id}: the retry got a different answer`)
    const read = await send({ path: `/v1/passes/${id}` })
    if (read !== undefined && JSON.parse(read).metadata.key !== key) failures.push(`${id}: reads differently`)
    await send({ path: '/v1/events?limit=5' })
  }

  const running = Array.from({ length: CALLERS }, async () => {
    while (!stopped) await exercise()
  })
  return {
    nodes,
    failures,
    issued,
    postponed: () => postponed,
    takeFigures: () => {
      const figures = { answered, slowestMs }
      ;[answered, slowestMs] = [0, 0]
      return figures
    },
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  }
}

/** Creates an object, and returns its ID. Throws if the answer is not 201. */
export async function create(url: string, secret: string, path: string, body: object): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${secret}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${text}`)
  const { id }: { id: string } = JSON.parse(text)
  return id
}

/** Creates the template of the passes, and returns its ID. */
export const makeTemplate = (url: string, secret: string): Promise<string> =>
  create(url, secret, '/v1/pass_templates', {
    name: 'Coffee loyalty',
    kind: 'loyalty',
    brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  })
