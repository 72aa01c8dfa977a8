/** Filters of endpoints: which properties of an event they may name. */
import type { Detail } from 'dateline/runtime'
import { current } from '../../../generated/versions.ts'
import { readDocument } from '../../api/explanation.ts'
import type { EventFilterRow } from './queries.ts'

/** Returns filters as they are stored. */
export function filtersOf(filters: readonly EventFilterRow[]): readonly EventFilterRow[] | null {
  return filters.length === 0 ? null : filters
}

/** Checks that the events of at least one of the types have the property of each filter. @param types may be only `*`. */
export function checkFilters(filters: readonly EventFilterRow[], types: readonly string[]): Detail[] {
  return filters.flatMap(({ property }, index) =>
    hasProperty(property, types)
      ? []
      : [
          {
            field: `filters[${index}].property`,
            issue: 'must be a property of an event that the endpoint receives',
          },
        ],
  )
}

/** Parts of the newest document. Other values than objects have no members. */
type Node = Readonly<Record<string, unknown>>

const nodeOf = (value: unknown): Node => (typeof value === 'object' && value !== null ? (value as Node) : {})

const at = (start: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((value, name) => nodeOf(value)[name], start)

let document: Node | undefined

function hasProperty(property: string, types: readonly string[]): boolean {
  document ??= readDocument(current).parsed()
  const webhooks = nodeOf(document.webhooks)
  const received = types.includes('*') ? Object.keys(webhooks) : types
  const path = property.split('.')
  return received.some((type) =>
    leads(at(webhooks, type, 'post', 'requestBody', 'content', 'application/json', 'schema'), path),
  )
}

/** Whether a value of the schema can have a property at the path. */
function leads(schema: unknown, path: readonly string[]): boolean {
  const node = nodeOf(schema)
  if (typeof node.$ref === 'string') return leads(at(document, ...node.$ref.slice(2).split('/')), path)
  const [name, ...rest] = path
  if (name === undefined) return true
  const alternatives = [node.oneOf, node.anyOf, node.allOf].flatMap((each) =>
    Array.isArray(each) ? each : [],
  )
  if (alternatives.some((each) => leads(each, path))) return true
  const properties = nodeOf(node.properties)
  if (Object.hasOwn(properties, name)) return leads(properties[name], rest)
  // A map, such as `metadata`, has any property.
  return typeof node.additionalProperties === 'object' && leads(node.additionalProperties, rest)
}
