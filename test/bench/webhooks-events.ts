/** Events as the bench emits them. */

import type { Database } from '../../runtime/database/database.ts'
import { collectEvents } from '../../runtime/events/emit/emit.ts'
import { newId } from '../../runtime/platform/ids.ts'

export const VERSION = '2026-05-19'

/** A pass as the API shows it: what most events carry. */
function makePass(now: number) {
  const at = new Date(now).toISOString()
  return {
    id: newId('pass', now),
    object: 'pass',
    template_id: newId('tpl', now),
    status: 'active',
    holder: { email: 'ada@example.com', name: 'Ada' },
    fields: { points: '12', tier: 'Basic' },
    metadata: {},
    expires_at: null,
    created: at,
    updated: at,
  }
}

function collect(tenantId: string, count: number, now: number) {
  const events = collectEvents({ tenantId, pin: VERSION, now })
  const emitted = Array.from({ length: count }, () => {
    const event = events.emit({ type: 'pass.revoked', data: { pass: makePass(now) } })
    if (!event) throw new Error('the version does not know the event')
    return event
  })
  return { events, emitted }
}

/** Emits events as a request does, in its transaction; gives their ids. */
export async function emitEvents(tx: Database, tenantId: string, count: number): Promise<string[]> {
  const { events, emitted } = collect(tenantId, count, Date.now())
  await events.write(tx)
  return emitted.map(({ id }) => id)
}

/** Events as they are sent, which nobody has emitted. */
export function makeEvents(count: number): { readonly id: string; readonly body: string }[] {
  return collect('ten_peer', count, Date.now()).emitted.map(({ id, body }) => ({ id, body }))
}
