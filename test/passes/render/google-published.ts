/** What Google publishes of its resources (REST reference, v1): names and types of members, and which are required. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Published {
  readonly required: readonly string[]
  readonly members: Readonly<Record<string, string>>
}

const PUBLISHED: Readonly<Record<string, Published>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'google-published.json'), 'utf8'),
)

/** Members of the value that Google does not publish or that are of another type, and required ones that it lacks. */
export function differences(type: string, value: unknown, at = type): string[] {
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${at}: no list`]
    return value.flatMap((each, index) => differences(type.slice(0, -2), each, `${at}[${index}]`))
  }
  const published = PUBLISHED[type]
  const own = typeof value
  if (!published) return own === type ? [] : [`${at}: no ${type}`]
  if (typeof value !== 'object' || value === null) return [`${at}: no ${type}`]
  const missing = published.required
    .filter((name) => !(name in value))
    .map((name) => `${at}.${name}: missing`)
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const wanted = published.members[name]
    return wanted === undefined ? [`${at}.${name}: unknown`] : differences(wanted, member, `${at}.${name}`)
  })
  return [...missing, ...wrong]
}

/** Members that Google requires of a type. */
export const requiredOf = (type: string): readonly string[] => PUBLISHED[type]!.required

/** `loyaltyClass` → `LoyaltyClass`, as Google names the type of a resource. */
export const typeOf = (resource: string): string => resource[0]!.toUpperCase() + resource.slice(1)
