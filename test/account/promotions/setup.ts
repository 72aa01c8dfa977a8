import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { makeKey, type Send, speak, type TestService } from '../../support/service.ts'

export const TEMPLATE = {
  name: 'Coffee club',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF', logo_text: 'Harbour' },
  fields: [
    { key: 'points', label: 'Points', value: '0' },
    { key: 'tier', label: 'Tier', value: 'Silver' },
  ],
  metadata: { owner: 'marketing' },
}

export const PROGRAM = {
  name: 'Travel',
  kind: 'virtual',
  design: { background_color: '#000000', foreground_color: '#FFFFFF', text: 'Harbour' },
  metadata: { team: 'travel' },
}

export const ENDPOINT = {
  url: 'https://93.184.215.14/hooks',
  enabled_events: ['pass.installed', 'promotion.created'],
  description: 'Main',
  metadata: { region: 'eu' },
}

/** A tenant's two environments as its owner speaks to them, and its promotions. */
export interface Promoter {
  readonly tenantId: string
  readonly sandbox: Send
  readonly live: Send
  readonly sandboxKey: { readonly id: string; readonly secret: string }
  /** POST /v1/promotions with the tenant's sandbox key, unless another is named. */
  readonly promote: (
    body: object,
    call?: { readonly key?: string; readonly as?: string | null },
  ) => ReturnType<Send>
}

export async function openPromoter(
  service: TestService,
  tenantId: string,
  version?: string,
): Promise<Promoter> {
  const sandboxKey = await makeKey(service, tenantId, { scope: 'admin' })
  const liveKey = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
  const sandbox = speak(service.urls.sandbox, { secret: sandboxKey.secret, version })
  const live = speak(service.urls.live, { secret: liveKey.secret, version })
  const promote: Promoter['promote'] = (body, { key = randomUUID(), as = sandboxKey.secret } = {}) => {
    const sent = as === null ? {} : { 'Service-Sandbox-Authorization': `Bearer ${as}` }
    return live('/v1/promotions', { body, headers: { 'Idempotency-Key': key, ...sent } })
  }
  return { tenantId, sandbox, live, sandboxKey, promote }
}

/** Makes something, which succeeds, and gives its id. */
export async function make(send: Send, path: string, body: object): Promise<string> {
  const answer = await send(path, { body })
  expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text])
  return answer.body.id
}

/** An object without what its copy has of its own. */
export function contentOf({ id, created, updated, ...content }: Record<string, unknown>) {
  return content
}
