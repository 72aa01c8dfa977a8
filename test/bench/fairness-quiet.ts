/**
 * Whoever goes about its business in the bench of fairness, a process of its own: few requests of each kind, each sent at a
 * moment that depends on no other, whether or not those before are through.
 *
 *   node fairness-quiet.ts <origin of the API> <its key> <requests of each kind a second>
 */
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { KINDS, type Kind } from './fairness-figures.ts'
import { obey } from './webhooks-processes.ts'

const [origin = '', key = '', rate = ''] = process.argv.slice(2)

/** Milliseconds from sending a request to the end of its answer, in groups of those sent in the same second. */
export interface Measured {
  readonly times: Readonly<Record<Kind, readonly (readonly number[])[]>>
  /** How often each status other than of success was answered. */
  readonly refused: ReadonlyMap<number, number>
}

const agent = new Agent({ keepAlive: true })

/** Of its own passes, so many are on a page of its list. */
const PASSES = 30

function ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      origin + path,
      {
        agent,
        method: text === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            'idempotency-key': randomUUID(),
          }),
        },
      },
      (response) => {
        let answer = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          answer += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text: answer }))
        response.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

let templateId = ''
let passId = ''

const issue = () => ask('/v1/passes', { template_id: templateId })

const kinds: Readonly<Record<Kind, () => ReturnType<typeof ask>>> = {
  GET: () => ask(`/v1/passes/${passId}`),
  list: () => ask('/v1/passes?limit=25'),
  POST: issue,
}

const methods = {
  async prepare(): Promise<void> {
    const brand = { background_color: '#112233', foreground_color: '#ffffff' }
    const template = await ask('/v1/pass_templates', { name: 'Few', kind: 'loyalty', brand })
    templateId = JSON.parse(template.text).id
    const made = await Promise.all(Array.from({ length: PASSES }, issue))
    passId = JSON.parse(made[0]!.text).id
  },
  async measure(seconds: number): Promise<Measured> {
    const times = { GET: [], list: [], POST: [] } as Record<Kind, number[][]>
    const refused = new Map<number, number>()
    const one = async (kind: Kind, into: number[]) => {
      const began = performance.now()
      const { status } = await kinds[kind]()
      into.push(performance.now() - began)
      if (status >= 300) refused.set(status, (refused.get(status) ?? 0) + 1)
    }
    const count = Number(rate)
    const send = async (kind: Kind) => {
      const start = performance.now()
      const asked: Promise<void>[] = []
      for (let nth = 0; nth < seconds * count; nth++) {
        // One in each interval, at a random moment of it: never in step with anything, and never many together.
        await wait(Math.max(0, start + ((nth + Math.random()) * 1000) / count - performance.now()))
        if (nth % count === 0) times[kind].push([])
        asked.push(one(kind, times[kind].at(-1)!))
      }
      await Promise.all(asked)
    }
    await Promise.all(KINDS.map(send))
    return { times, refused }
  },
}
export type Quiet = typeof methods

obey(methods, () => agent.destroy())
