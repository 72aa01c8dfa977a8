/** A merchant's HTTP client, which repeats a request with the same Idempotency-Key until it knows the answer. */
import inject from 'light-my-request'
import type { Environment } from '../../runtime/platform/environment.ts'
import type { Random } from '../../runtime/platform/random.ts'
import { mustEqual } from './checks/must.ts'
import { type Machine, runOn } from './clockwork/machines.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import type { Network } from './network.ts'
import type { SimulatedService } from './service.ts'
import type { Weather } from './weather.ts'

export interface Running {
  readonly machine: Machine
  readonly service: SimulatedService
  /** Requests that it has not answered yet. */
  readonly requests: Set<Promise<unknown>>
}

/** Notes a request until it has ended. */
export function noteRequest({ requests }: Running, request: Promise<unknown>): void {
  const ended = () => void requests.delete(request)
  requests.add(request)
  request.then(ended, ended)
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the operation
  readonly body: any
}

export interface Client {
  /** Sends a POST until the answer is known. Throws if two answers to the same key differ. @param key default: a new one. */
  post(path: string, body: object, key?: string): Promise<Answer>
  /** Sends a request without a key until it is answered. */
  send(method: 'GET' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer>
  /** Answers to POSTs by key: when they were final. */
  readonly answered: ReadonlyMap<string, { readonly at: number; readonly status: number }>
}

export interface ClientParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly weather: Weather
  readonly network: Pick<Network, 'latency'>
  /** The machines that serve at the moment. */
  readonly machines: () => readonly Running[]
}

export interface Credential {
  readonly name: string
  readonly environment: Environment
  readonly secret: string
  readonly version: string | undefined
}

const RETRY_MS = 2000

/** How long a client waits for an answer. */
export const PATIENCE_MS = 30_000

/** Whether the answer says what became of the request. Others are repeated. */
const isFinal = ({ status, body }: Answer) =>
  status < 500 && status !== 429 && body?.error?.code !== 'idempotency_in_progress'

/** A client whose first request is still in progress is told to wait for a second. */
function isTimely({ status, headers, body }: Answer): void {
  const found = [status, headers['retry-after'], body.error.retry_after_ms, body.error.param]
  mustEqual(found, [409, '1', 1000, 'Idempotency-Key'], 'the answer to a request in progress')
}

/** What must be equal in every answer to a key: everything but the number of the request. */
const comparable = ({ status, body }: Answer) =>
  JSON.stringify([status, body?.error ? { ...body.error, request_id: null } : body])

/** A request to the service, from a client or a device. */
export interface ServiceRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object | undefined
}

/** An answer with its bytes. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly payload: Buffer
}

/** Returns one of the machines that serve. Throws if there is none. */
export function chooseMachine({ random, machines }: Pick<ClientParts, 'random' | 'machines'>): Running {
  const running = machines()
  const target = running[random.between(0, running.length - 1)]
  if (!target) throw new Error('the connection was refused')
  return target
}

/** Sends a request to one of the machines that serve. Throws if the machine dies, or does not answer in time. */
export async function reach(
  parts: Pick<ClientParts, 'scheduler' | 'random' | 'machines'>,
  environment: Environment,
  { method, url, headers, body }: ServiceRequest,
): Promise<RawAnswer> {
  const running = chooseMachine(parts)
  const { machine, service } = running
  const request = {
    method: method as 'GET',
    url,
    headers: { host: 'api.invalid', ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { payload: JSON.stringify(body) }),
  }
  // The request starts with `then`: without it, the code of the machine would run outside of it.
  const work = runOn(machine, () =>
    inject(service.listeners[environment], request).then((response) => response),
  )
  noteRequest(running, work)
  const late = parts.scheduler.sleep(PATIENCE_MS).then(() => {
    throw new Error('no answer in time')
  })
  const response = await Promise.race([work, machine.death, late])
  return { status: response.statusCode, headers: response.headers, payload: response.rawPayload }
}

export function createClient(parts: ClientParts, { name, environment, secret, version }: Credential): Client {
  const { scheduler, weather, network } = parts

  const once = async (
    method: string,
    url: string,
    body: object | undefined,
    key?: string,
  ): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${secret}`,
      ...(version !== undefined && { 'service-version': version }),
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const {
      status,
      headers: answered,
      payload,
    } = await reach(parts, environment, { method, url, headers, body })
    return {
      status,
      headers: answered,
      body: payload.length === 0 ? undefined : JSON.parse(payload.toString()),
    }
  }

  const answered = new Map<string, { readonly at: number; readonly status: number }>()

  /** Answers to a key, compared with the first. */
  const comparison = (what: string) => {
    let first: string | undefined
    return (answer: Answer) => {
      const text = comparable(answer)
      first ??= text
      if (text !== first) throw new Error(`answers to the same key differ: ${what}: ${first} and ${text}`)
    }
  }

  const repeat = async (method: string, path: string, body?: object, key?: string): Promise<Answer> => {
    const what = `${name} ${method} ${path.replaceAll(/(?<=_)[0-9a-z]{26}|(?<=(?:starting_after|ending_before)=)[^&]+/g, '…')}`
    const compare = comparison(what)
    const attempt = async (): Promise<Answer | undefined> => {
      await scheduler.sleep(network.latency())
      if (weather.strikes('lost')) return undefined
      const doubled = weather.strikes('doubled') ? once(method, path, body, key) : undefined
      const other = doubled?.catch(() => undefined)
      const answer = await once(method, path, body, key).catch(() => undefined)
      const isLost = weather.strikes('answerLost')
      for (const each of [answer, await other]) if (each && key !== undefined && isFinal(each)) compare(each)
      return isLost ? undefined : answer
    }
    for (let tries = 1; ; tries += 1) {
      const answer = await attempt()
      if (answer?.body?.error?.code === 'idempotency_in_progress') isTimely(answer)
      scheduler.note(`${what} ${answer?.status ?? 'unknown'} ${answer?.body?.error?.code ?? ''}`)
      if (answer && isFinal(answer)) {
        const isOwn =
          !answer.body?.error?.code?.startsWith('idempotency_') && !answer.headers['idempotency-replayed']
        if (key !== undefined && (isOwn || !answered.has(key)))
          answered.set(key, { at: scheduler.timers.now, status: answer.status })
        return answer
      }
      if (tries === 200)
        throw new Error(`no answer after ${tries} attempts: ${what} ${JSON.stringify(answer?.body)}`)
      await scheduler.sleep(RETRY_MS)
    }
  }

  return {
    answered,
    post: (path, body, key = crypto.randomUUID()) => repeat('POST', path, body, key),
    send: (method, path, body) => repeat(method, path, body),
  }
}
