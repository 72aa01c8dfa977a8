/** What tests put into sandboxes, and read from their tables. */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { current } from '../../generated/versions.ts'
import { CLOSED_TABLES, WIPED_TABLES } from '../../runtime/account/account/wipe-queries.ts'
import type { Database } from '../../runtime/database/database.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { type Send, speak } from '../support/service.ts'

/** Creates a sandbox; gives its ID and speaks with its key. */
export async function openSandbox(send: Send, url: string, name = 'Checkout tests') {
  const { status, body } = await send('/v1/sandboxes', { body: { name } })
  expect([status, body.object, body.name]).toEqual([201, 'sandbox', name])
  return {
    id: body.id as string,
    secret: body.secret_key as string,
    send: speak(url, { secret: body.secret_key, version: current }),
  }
}

/** Every row of a space, without the space. */
export async function readSpace(control: Database, space: string): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of [...WIPED_TABLES, ...CLOSED_TABLES]) {
    const text = `SELECT row_to_json(t)::text AS line FROM sandbox.${table} t WHERE tenant_id = $1 ORDER BY 1`
    const { rows } = await control.query<{ line: string }>({ text }, [space])
    if (rows.length > 0) found[table] = rows.map(({ line }) => line.replace(`"tenant_id":"${space}"`, ''))
  }
  return found
}

/** A pass, a card with money and secrets, an endpoint. */
export async function fill(by: Send) {
  const make = async (path: string, body: object, headers = {}) => {
    const answer = await by(path, { body, headers })
    expect([path, answer.text, answer.status < 300]).toEqual([path, answer.text, true])
    return answer.body
  }
  const key = randomUUID()
  const pass = await make('/v1/passes', { template_id: await makeTemplate(by) }, { 'Idempotency-Key': key })
  const holder = await make('/v1/cardholders', { name: 'Ada Moreau', metadata: { longer: '1', a: '2' } })
  const card = await make('/v1/cards', { cardholder_id: holder.id, type: 'virtual' })
  await make('/v1/test/funding', { amount: 100_000 })
  const use = { card_id: card.id, amount: 20_000, merchant: { name: 'A', category_code: '5812' } }
  await make('/v1/test/cards/simulate_authorization', use)
  await make('/v1/webhook-endpoints', { url: 'https://93.184.215.14/hooks', enabled_events: ['*'] })
  const address = { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' }
  const person = { name: 'Ada Moreau', date_of_birth: '1990-04-12', address }
  const token = await make('/v1/tokens', { type: 'person', person })
  return { pass, card, use, key, make, token }
}
