/** `svc listen`: the sandbox's events, as they happen, to an address on the developer's own machine. */
import { createHmac } from 'node:crypto'
import { type FollowOptions, followEvents, type StreamedEvent } from './follow-events.ts'
import { type ForwardedEvent, type ForwardResult, forwardEvent } from './forward-event.ts'
import type { SvcSession, SvcTerminal } from './svc-session.ts'

export interface ListenOptions extends Pick<FollowOptions, 'since' | 'giveUpMs' | 'silenceMs' | 'pauseMs'> {
  readonly to: URL
  /** All of them when absent. */
  readonly types?: ReadonlySet<string> | undefined
  /** What deliveries are signed with; derived from the key or the profile when absent. */
  readonly secret?: string | undefined
  /** Ends it, with success. */
  readonly signal: AbortSignal
  /** For one delivery, in milliseconds. */
  readonly timeoutMs?: number
}

/** As for a real delivery. */
const TIMEOUT_MS = 10_000

/**
 * One event after the other, in the order of the stream. An endpoint that fails gets no second attempt, but every
 * event gets its first.
 *
 * @returns when the signal aborts.
 * @throws ConnectionLostError when the stream is lost for good.
 */
export async function listen(
  session: SvcSession,
  options: ListenOptions,
  terminal: SvcTerminal,
): Promise<void> {
  const { to, types, signal, timeoutMs = TIMEOUT_MS } = options
  const { client, baseUrl } = session
  const { say } = terminal
  const secret = options.secret ?? deriveSecret(session.seed)
  say(`Forwarding ${types ? [...types].join(', ') : 'all events'} from ${baseUrl} to ${to.href}`)
  if (options.secret === undefined) say(`Signing secret, the same each time: ${secret}`)
  let last = options.since
  try {
    for await (const streamed of followEvents({ ...options, client, baseUrl, say })) {
      const event = readEvent(streamed)
      if (!types || types.has(event.type)) {
        const answer = await forwardEvent(event, streamed.data, { to, secret, timeoutMs, signal })
        terminal.print(terminal.json ? toJson(event, answer) : toLine(event, answer))
      }
      last = event.id
    }
  } catch (error) {
    if (last !== undefined) say(`To go on where this stopped: --since ${last}`)
    if (!signal.aborted) throw error
  }
}

/** A secret that a developer has to enter once: it follows from the seed, and does not give it away. */
export function deriveSecret(seed: string): string {
  return `whsec_${createHmac('sha256', seed).update('svc listen: signing secret').digest('base64url')}`
}

function readEvent({ id, data }: StreamedEvent): ForwardedEvent {
  const { type, version, created } = JSON.parse(data) as ForwardedEvent
  return { id, type, version, created }
}

function toJson({ id, type, version, created }: ForwardedEvent, answer: ForwardResult): string {
  return JSON.stringify({ id, type, version, created, ...answer })
}

function toLine({ id, type }: ForwardedEvent, answer: ForwardResult): string {
  const outcome = 'status' in answer ? String(answer.status) : `failed: ${answer.error}`
  return `${new Date().toLocaleTimeString('en-GB')}  ${type}  ${id}  → ${outcome} (${answer.duration_ms} ms)`
}
