/** `svc listen`: forwards sandbox events to an address on the developer's machine as they occur. */
import { createHmac } from 'node:crypto'
import { type FollowOptions, followEvents, type StreamedEvent } from './follow-events.ts'
import { type ForwardedEvent, type ForwardResult, forwardEvent } from './forward-event.ts'
import type { SvcSession, SvcTerminal } from './svc-session.ts'

export interface ListenOptions extends Pick<FollowOptions, 'since' | 'giveUpMs' | 'silenceMs' | 'pauseMs'> {
  readonly to: URL
  /** Event types to forward; default: all. */
  readonly types?: ReadonlySet<string> | undefined
  /** Signing secret; default: derived from the API key or the profile. */
  readonly secret?: string | undefined
  /** Stops the command successfully. */
  readonly signal: AbortSignal
  /** Timeout of one delivery, in milliseconds. */
  readonly timeoutMs?: number
}

/** The timeout of real deliveries. */
const TIMEOUT_MS = 10_000

/**
 * Forwards one event after the other, in stream order. Each event is sent once, without retries. Returns when the signal
 * aborts.
 * @throws ConnectionLostError if the stream is permanently lost.
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
  if (options.secret === undefined) say(`Signing secret (the same each time): ${secret}`)
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
    if (last !== undefined) say(`To resume after the last event: --since ${last}`)
    if (!signal.aborted) throw error
  }
}

/**
 * Derives a signing secret from the seed, without revealing the seed. It stays the same, so a developer configures it once.
 */
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
