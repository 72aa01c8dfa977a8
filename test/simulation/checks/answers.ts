/** What the service answered, and what its events tell. */
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

/** Each change that was answered with an object has one event that tells the same of it. */
export async function answersAreTold(evidence: Evidence, merchant: Merchant): Promise<void> {
  if (!merchant.isCurrent) return // an older version words it differently
  for (const environment of ['sandbox', 'live'] as const) {
    const events = await rowsOf<{ type: string; body: string; created: number; id: string }>(
      evidence,
      environment,
      merchant,
      'events',
      'sequence',
    )
    const told = events.map(({ id, type, body, created }) => {
      const event = JSON.parse(body)
      mustEqual(
        { id: event.id, type: event.type, created: Date.parse(event.created) },
        { id, type, created },
        `an event of ${merchant.name}`,
      )
      return { type, data: Object.values(event.data as object)[0] as { readonly id?: string } }
    })
    for (const { environment: where, type, body } of merchant.changes) {
      if (where !== environment) continue
      const own = told.filter((event) => event.type === type && event.data.id === body.id)
      if (own.length === 0) fail(`no event ${type} tells ${merchant.name} of its ${body.object}`)
      const text = JSON.stringify(body)
      if (!own.some(({ data }) => sameText(data, text)))
        mustEqual(own[0]!.data, body, `what ${type} tells ${merchant.name}`)
    }
  }
}

const sameText = (data: object, text: string) => JSON.stringify(data) === text
