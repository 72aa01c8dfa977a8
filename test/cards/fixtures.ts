import { expect } from 'vitest'
import { makeKey, type Send, speak, type TestService } from '../support/service.ts'

/** Versions that have cards. */
export const CARD_VERSIONS = ['2025-11-01', '2026-02-01', '2026-05-19'] as const

export type CardVersion = (typeof CARD_VERSIONS)[number]

export const SHIPPING = {
  address: { line1: '500 Harbor Street', city: 'Oakland', state: 'CA', postal_code: '94607', country: 'US' },
  service: 'standard',
}

/** Speaks with a new key of the tenant, in each version that has cards. */
export async function speakAll(
  service: TestService,
  tenantId: string,
  options: Parameters<typeof makeKey>[2] = {},
): Promise<Record<CardVersion, Send>> {
  const { secret } = await makeKey(service, tenantId, options)
  const url = service.urls[options.environment ?? 'sandbox']
  const of = (version: CardVersion) => speak(url, { secret, version })
  return { '2025-11-01': of('2025-11-01'), '2026-02-01': of('2026-02-01'), '2026-05-19': of('2026-05-19') }
}

/** Makes something, which succeeds, and gives it whole. */
export async function make(send: Send, path: string, body: object) {
  const answer = await send(path, { body })
  expect([path, answer.status, answer.text]).toEqual([path, 201, answer.text])
  return answer.body
}

export async function makeCardholder(send: Send): Promise<string> {
  return (await make(send, '/v1/cardholders', { name: 'Ada Moreau' })).id
}

/** Issues a virtual card to a new cardholder and gives it whole. */
export async function makeCard(send: Send, content: object = {}) {
  return make(send, '/v1/cards', { cardholder_id: await makeCardholder(send), type: 'virtual', ...content })
}

export const patch = (send: Send, path: string, body: object) => send(path, { method: 'PATCH', body })

/** Types of the tenant's events, oldest first. */
export async function eventsOf(send: Send): Promise<string[]> {
  const { body } = await send('/v1/events?order=asc&limit=100')
  return body.data.map(({ type }: { type: string }) => type)
}
