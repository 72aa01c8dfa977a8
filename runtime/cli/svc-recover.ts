/** `svc events recover`: sends the events that an endpoint missed again. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Schemas } from '../../generated/client/src/2026-05-19/index.ts'
import { readTypes } from './event-types.ts'
import { render } from './print.ts'
import type { SvcSession, SvcTerminal } from './svc-session.ts'

type Recovery = Schemas['WebhookRecovery']

export interface RecoverOptions {
  readonly since: string
  readonly until?: string
  readonly type?: string
  readonly all?: boolean
  readonly rate: number
  readonly wait?: boolean
}

/** Milliseconds between two looks at the progress. */
const PAUSE_MS = 1000

/** Starts a recovery and prints it; with `wait`, prints it when it has ended, and the progress until then. */
export async function recoverEvents(
  { client }: SvcSession,
  whe_id: string,
  { since, until, type, all, rate, wait: waits }: RecoverOptions,
  { json, print, say }: SvcTerminal,
): Promise<void> {
  if (type !== undefined) readTypes(type)
  const body = {
    since,
    ...(until !== undefined && { until }),
    ...(type !== undefined && { types: [type as Schemas['EventType']] }),
    scope: all ? ('all' as const) : ('failed' as const),
    rate,
  }
  let recovery: Recovery = await client.recoverWebhookEndpoint({ path: { whe_id }, body })
  while (waits && isOpen(recovery)) {
    await wait(PAUSE_MS)
    recovery = await client.getWebhookRecovery({ path: { whe_id, whr_id: recovery.id } })
    if (isOpen(recovery))
      say(`${recovery.status}: ${recovery.sent + recovery.failed} of ${recovery.total} events`)
  }
  print(render(recovery, json).trimEnd())
}

const isOpen = ({ status }: Recovery) => status === 'counting' || status === 'running'
