import { isNode, type Json, join, type Node } from './documents.ts'

/** Lists whose items are known by a name, or are words, are compared as sets; others item by item. */
function entriesOfList(list: Json[], pointer: string): Map<string, Json> {
  const names = list.map((item) => (isNode(item) ? item.name : item))
  const named = names.every((name) => typeof name === 'string') && !pointer.endsWith('/examples')
  return new Map(list.map((item, index) => [named ? (names[index] as string) : String(index), item]))
}

function entriesOf(value: Json, pointer: string): Map<string, Json> | undefined {
  if (Array.isArray(value)) return entriesOfList(value, pointer)
  return isNode(value) ? new Map(Object.entries(value)) : undefined
}

/**
 * Every place in which two documents differ, as its pointer after `+` (added), `-` (removed) or `~`
 * (changed). What is added or removed whole is one difference.
 */
export function differences(before: Json, after: Json, pointer = ''): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const old = entriesOf(before, pointer)
  const now = entriesOf(after, pointer)
  if (!old || !now || Array.isArray(before) !== Array.isArray(after)) return [`~ ${pointer}`]
  const found: string[] = []
  for (const [name, value] of old) {
    const next = now.get(name)
    if (next === undefined) found.push(`- ${join(pointer, name)}`)
    else found.push(...differences(value, next, join(pointer, name)))
  }
  for (const name of now.keys()) if (!old.has(name)) found.push(`+ ${join(pointer, name)}`)
  return found
}

/**
 * The document with its own date written as `(date)`, so that naming itself is no difference. Examples of errors lead to
 * the page of errors, as answers of all versions do; those of older documents lead to the version's own.
 */
export function undated(document: Node, date: string): Node {
  const text = JSON.stringify(document).replaceAll(`/docs/${date}#error-`, '/docs/errors#')
  return JSON.parse(text.replaceAll(date, '(date)')) as Node
}

/** Whole operations, events and components that are new: other tests hold them to their tables. */
export function isWholeAddition(difference: string): boolean {
  return /^\+ \/(?:paths|webhooks)\/[^/]+(?:\/[^/]+)?$|^\+ \/components\/[^/]+\/[^/]+$/.test(difference)
}

/**
 * What other tests hold: descriptions of members to their enumeration, event types and what only the newest document
 * declares to their tables.
 */
export function isHeldElsewhere(difference: string): boolean {
  return /\/x-(audit-action|account|sensitive)$|\/x-enumDescriptions\/|\/(?:EventType|EnabledEvent)\/enum\//.test(
    difference,
  )
}
