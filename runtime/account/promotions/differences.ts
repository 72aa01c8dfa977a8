import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { components } from '../../../generated/canonical/types.ts'

type PromotionDifference = components['schemas']['PromotionDifference']

/** Maximum number of characters of a value that are shown. Images have hundreds of thousands of characters. */
const MAX_SHOWN = 200

/**
 * Finds differences between two values, member by member, with paths such as `fields[0].label`. A missing value is
 * null.
 */
export function* findDifferences(
  sandbox: unknown,
  live: unknown,
  field = '',
): Generator<PromotionDifference> {
  if (isDeepStrictEqual(sandbox, live)) return
  if (Array.isArray(sandbox) && Array.isArray(live)) {
    for (let index = 0; index < Math.max(sandbox.length, live.length); index += 1) {
      yield* findDifferences(sandbox[index], live[index], `${field}[${index}]`)
    }
  } else if (isObject(sandbox) && isObject(live)) {
    for (const name of new Set([...Object.keys(sandbox), ...Object.keys(live)])) {
      yield* findDifferences(own(sandbox, name), own(live, name), field === '' ? name : `${field}.${name}`)
    }
  } else {
    yield { field, sandbox: show(sandbox), live: show(live) }
  }
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (value: Members, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)

/** Returns JSON. A long value is truncated and gets a digest, so that two different values still look different. */
function show(value: unknown): string | null {
  if (value === undefined) return null
  const text = JSON.stringify(value)
  if (text.length <= MAX_SHOWN) return text
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const start = (typeof value === 'string' ? value : text).slice(0, 60).toWellFormed()
  return JSON.stringify(`${start}… (${text.length} characters, SHA-256 ${digest}…)`)
}
