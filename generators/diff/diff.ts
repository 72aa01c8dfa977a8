/**
 * Every difference between two adjacent versions, in every location: reported once, and classified in each direction in
 * which it is used. Inlining or renaming a component, order and prose are no differences.
 */

import type { Api } from '../ir/model.ts'
import { type Difference, formatLocation, type MessageDirection } from './difference.ts'
import { compareEvents } from './events.ts'
import { compareOperations } from './operations.ts'
import { findAll, type Located } from './pairs.ts'
import { REQUEST, RESPONSE } from './position.ts'
import { propose } from './proposals.ts'
import { compareSchemes } from './requirements.ts'

/** @returns operations first, then events, then the components that they reach, each in the order of the new document. */
export function diffApis(old: Api, next: Api): readonly Difference[] {
  const roots = [compareSchemes(old, next), ...compareOperations(old, next), ...compareEvents(old, next)]
  const located = unite(findAll(old, next, roots))
  const proposals = propose(located)
  return located.map((each) => {
    const proposal = proposals.get(each)
    const breaks = each.breaks & each.directions
    const place = proposal?.place ?? each.new
    return {
      code: codeOf(each),
      class: breaks === 0 ? 'additive' : 'breaking',
      at: each.at,
      directions: directionsOf(each.directions),
      breaks: directionsOf(breaks),
      message: each.message,
      uses: each.uses,
      ...(each.old && { old: each.old }),
      ...(place && { new: place }),
      ...(each.value !== undefined && { value: each.value }),
      ...(each.required && { required: true }),
      ...(each.components && { components: each.components }),
      ...(proposal && { proposal }),
    }
  })
}

/** A property that is in responses only is none that callers have to send. */
function codeOf({ code, directions }: Located): Difference['code'] {
  return code === 'property-added-required' && (directions & REQUEST) === 0 ? 'property-added' : code
}

function directionsOf(bits: number): MessageDirection[] {
  const directions: MessageDirection[] = []
  if (bits & REQUEST) directions.push('request')
  if (bits & RESPONSE) directions.push('response')
  return directions
}

/** Where several intersections share the component that differs, that is one difference. */
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
