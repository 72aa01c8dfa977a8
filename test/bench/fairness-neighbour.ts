/**
 * The bad neighbour of the bench of fairness, a process of its own: one tenant that does one thing as much as it may.
 *
 *   node fairness-neighbour.ts <origin of the API> <its key> <secret of its second factor> <origin of a sink>
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Secret, TOTP } from 'otpauth'
import { obey } from './webhooks-processes.ts'

const [origin = '', key = '', totp = '', sink = ''] = process.argv.slice(2)

/** Before one that was refused for want of a token is sent again. */
const PAUSE_MS = 100

// biome-ignore lint/suspicious/noExplicitAny: what it is depends on the request
type Answer = { readonly status: number; readonly body: any }

async function ask(path: string, body?: unknown, method = body ? 'POST' : 'GET'): Promise<Answer> {
  const response = await fetch(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
      'service-factor': new TOTP({ secret: Secret.fromBase32(totp) }).generate(),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

async function make(path: string, body: unknown): Promise<Answer['body']> {
  const answer = await ask(path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

let templateId = ''
const passIds: string[] = []
const endpointIds: string[] = []

const makeEndpoint = async () => {
  const { id } = await make('/v1/webhook-endpoints', { url: `${sink}/plain`, enabled_events: ['*'] })
  endpointIds.push(id)
}

const hundred = () => ({ passes: Array.from({ length: 100 }, () => ({ template_id: templateId })) })

/** What it does, how many at once, and whether again and again. */
const doings = {
  counts: { atOnce: 12, once: () => ask('/v1/passes/count') },
  lists: { atOnce: 64, once: () => ask('/v1/passes?limit=100') },
  updates: {
    atOnce: 60,
    once: () =>
      ask('/v1/passes/batch_update', {
        updates: passIds.map((id) => ({ id, metadata: { at: randomUUID() } })),
      }),
  },
  rotations: { atOnce: 60, once: () => ask(`/v1/webhook-endpoints/${endpointIds[0]}/rotate_secret`, {}) },
  events: { atOnce: 4, once: () => ask('/v1/passes/batch', hundred()) },
  wipe: { atOnce: 1, isSingle: true, once: () => ask('/v1/account/wipe_sandbox', { confirm: 'wipe' }) },
} satisfies Record<string, { atOnce: number; isSingle?: boolean; once: () => Promise<Answer> }>
export type Doing = keyof typeof doings

let isDoing = false
let underWay: Promise<unknown> = Promise.resolve()
const answers = new Map<number, number>()

async function repeat(once: () => Promise<Answer>, isSingle: boolean): Promise<void> {
  do {
    const { status } = await once()
    answers.set(status, (answers.get(status) ?? 0) + 1)
    if (status === 429) await wait(PAUSE_MS)
  } while (isDoing && !isSingle)
}

let usedCode = ''

/** A code of the second factor is good for one time. */
async function waitForCode(): Promise<void> {
  const factor = new TOTP({ secret: Secret.fromBase32(totp) })
  while (factor.generate() === usedCode) await wait(PAUSE_MS)
  usedCode = factor.generate()
}

const methods = {
  /** Makes what the doings work on; gives the template that more passes may be of. */
  async prepare(): Promise<string> {
    passIds.length = 0
    endpointIds.length = 0
    const brand = { background_color: '#112233', foreground_color: '#ffffff' }
    templateId = (await make('/v1/pass_templates', { name: 'Many', kind: 'loyalty', brand })).id
    const { results } = await make('/v1/passes/batch', hundred())
    for (const { pass } of results) passIds.push(pass.id)
    return templateId
  },
  async addEndpoints(count: number): Promise<void> {
    for (let made = endpointIds.length; made < count; made++) await makeEndpoint()
  },
  async removeEndpoints(): Promise<void> {
    for (const id of endpointIds.splice(0)) await ask(`/v1/webhook-endpoints/${id}`, undefined, 'DELETE')
  },
  waitForCode,
  start(doing: Doing): void {
    isDoing = true
    answers.clear()
    const { atOnce, once, isSingle = false }: (typeof doings)[Doing] & { isSingle?: boolean } = doings[doing]
    underWay = Promise.all(Array.from({ length: atOnce }, () => repeat(once, isSingle)))
  },
  /** Ends after what is under way; how often each status was answered. */
  async stop(): Promise<ReadonlyMap<number, number>> {
    isDoing = false
    await underWay
    return answers
  },
}
export type Neighbour = typeof methods

obey(methods, () => {})
