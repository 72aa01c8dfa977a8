/** Streams of events, as a merchant followed them. */
import { BEFORE_EVENTS } from '../../../runtime/events/emit/queries.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, rowsOf } from './evidence.ts'
import { fail } from './must.ts'

interface EventRow {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** Each stream has each event once, in order, unchanged and without gaps, over all its connections. The first has them all. */
export async function streamsAreWhole(evidence: Evidence, merchant: Merchant): Promise<void> {
  const events = await rowsOf<EventRow>(evidence, 'sandbox', merchant, 'events', 'sequence')
  const places = new Map(events.map(({ id }, index) => [id, index]))
  merchant.streams.forEach(({ start, seen }, number) => {
    if (start === undefined) fail(`a stream of ${merchant.name} did not begin`)
    const before = start === BEFORE_EVENTS ? -1 : places.get(start)
    if (before === undefined)
      fail(`a stream of ${merchant.name} begins after ${start}, which is not an event`)
    const wanted = events.slice(before + 1, number === 0 ? undefined : before + 1 + seen.length)
    for (const [index, { id, type, body }] of wanted.entries()) {
      const found = seen[index]
      const what = `event ${before + 2 + index} of ${merchant.name}, ${type},`
      if (!found) fail(`${what} is not in its stream`)
      if (found.id !== id) fail(`${what} is in its stream as ${found.type}`)
      if (found.type !== type || found.data !== body) fail(`${what} is changed in its stream`)
    }
    if (seen.length > wanted.length) fail(`a stream of ${merchant.name} has ${seen.at(-1)!.type} too often`)
  })
}
