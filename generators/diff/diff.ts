/**
 * Finds every difference between two adjacent versions. Each is reported once, and classified for each direction in
 * which its location is used. Inlined references, renamed components, order and prose are not differences.
 */

import { pairOperations } from '../change/align.ts'
import type { Api } from '../ir/model.ts'
import { type Difference, formatLocation, type MessageDirection } from './difference.ts'
import { compareEvents } from './events.ts'
import { compareOperations } from './operations.ts'
import { findAll, type Located } from './pairs.ts'
import { REQUEST, RESPONSE } from './position.ts'
import { propose } from './proposals.ts'
import { compareSchemes } from './requirements.ts'
import { compareDocumentServers } from './servers.ts'
import { stabilityOf } from './stability.ts'

export interface ComparisonOptions {
  /** Ids that lenses give to old operations. */
  readonly served?: ReadonlySet<string>
  /**
   * Whether the service translates between the versions and serves the routes of both. Otherwise, the new document
   * replaces the old one: a path that changed is gone, and values are compared as they are sent.
   */
  readonly translated?: boolean
}

/**
 * Returns differences in operations first, then in events, then in the components that they use, each in the order
 * of the new document.
 */
export function diffApis(
  old: Api,
  next: Api,
  { served, translated = true }: ComparisonOptions = {},
): readonly Difference[] {
  const counterparts = pairOperations(old, next, served)
  const holders = new Map([
    ...old.operations.map((each) => [each.id, each] as const),
    ...[...counterparts].map(([now, was]) => [now.id, was] as const),
  ])
  const roots = [
    compareSchemes(old, next),
    compareDocumentServers(old, next, translated),
    ...compareOperations(old, next, counterparts, translated),
    ...compareEvents(old, next),
  ]
  const located = unite(findAll(old, next, roots))
  const proposals = propose(located)
  return located.map((each) => {
    const proposal = proposals.get(each)
    const breaks = each.breaks & each.directions
    const place = proposal?.place ?? each.new
    const stability = stabilityOf(each, old, holders)
    return {
      code: codeOf(each),
      class: breaks === 0 ? 'additive' : stability === 'alpha' ? 'alpha' : 'breaking',
      at: each.at,
      directions: directionsOf(each.directions),
      breaks: directionsOf(breaks),
      message: each.message,
      uses: each.uses,
      ...(each.old && { old: each.old }),
      ...(place && { new: place }),
      ...(each.value !== undefined && { value: each.value }),
      ...(stability !== 'stable' && { stability }),
      ...(each.required && { required: true }),
      ...(each.components && { components: each.components }),
      ...(proposal && { proposal }),
    }
  })
}

/** A required property that occurs only in responses is not required from callers. */
function codeOf({ code, directions }: Located): Difference['code'] {
  return code === 'property-added-required' && (directions & REQUEST) === 0 ? 'property-added' : code
}

function directionsOf(bits: number): MessageDirection[] {
  const directions: MessageDirection[] = []
  if (bits & REQUEST) directions.push('request')
  if (bits & RESPONSE) directions.push('response')
  return directions
}

/** Unites the differences of a component that several intersections share. */
function unite(all: readonly Located[]): Located[] {
  const byKey = new Map<string, Located>()
  for (const each of all) {
    const key = `${each.code} ${formatLocation(each.at)} ${JSON.stringify(each.value)} ${each.message}`
    const known = byKey.get(key)
    byKey.set(
      key,
      known
        ? {
            ...known,
            directions: known.directions | each.directions,
            uses: [...new Set([...known.uses, ...each.uses])],
          }
        : each,
    )
  }
  return [...byKey.values()]
}
