/** Determines where each component schema is referenced, and which page section describes it. */
import type { Api, ApiContent, Schema } from '../../ir/model.ts'

/**
 * The place where a schema is described. Each schema is described once, and everything else links there, so that
 * pages stay small.
 */
export type Home =
  /** In the only operation that sends or returns it. */
  | { readonly kind: 'operation'; readonly id: string }
  /** In the only event that has it. */
  | { readonly kind: 'event'; readonly name: string }
  /** Inline in the only schema that refers to it. */
  | { readonly kind: 'nested'; readonly within: string }
  /** On the page of the only tag whose operations use it. */
  | { readonly kind: 'tag'; readonly tag: string }
  /** On the page of shared schemas. */
  | { readonly kind: 'shared' }

/** Returns the home of every component schema. Schemas that are shown inline are never nested. */
export function placeSchemas(api: Api): ReadonlyMap<string, Home> {
  const uses = collectUses(api)
  const homes = new Map<string, Home>()
  for (const [name, schema] of api.schemas) {
    homes.set(name, isComposite(schema) ? homeOf(name, uses) : sectionOf(name, schema, uses))
  }
  // A cycle of schemas that are each referenced once would be nested in nothing.
  for (const [name, home] of homes)
    if (home.kind === 'nested' && !isRooted(name, uses, homes)) homes.set(name, { kind: 'shared' })
  return homes
}

/** Returns whether a schema consists of others, instead of being shown inline. */
export function isComposite(schema: Schema): boolean {
  return ['array', 'object', 'union', 'intersection', 'ref'].includes(schema.kind)
}

interface Uses {
  readonly bodies: Multimap
  readonly answers: Multimap
  readonly events: Multimap
  /** Names of the schemas that refer to it, one entry for each reference. */
  readonly schemas: Multimap
  readonly tags: ReadonlyMap<string, ReadonlySet<string>>
}

type Multimap = ReadonlyMap<string, readonly string[]>

function homeOf(name: string, uses: Uses): Home {
  const [body, ...otherBodies] = uses.bodies.get(name) ?? []
  if (body !== undefined && otherBodies.length === 0) return { kind: 'operation', id: body }
  const answers = uses.answers.get(name) ?? []
  const events = uses.events.get(name) ?? []
  const schemas = uses.schemas.get(name) ?? []
  if (answers.length + events.length + schemas.length === 1 && body === undefined) {
    if (answers[0] !== undefined) return { kind: 'operation', id: answers[0] }
    if (events[0] !== undefined) return { kind: 'event', name: events[0] }
    return { kind: 'nested', within: schemas[0] ?? '' }
  }
  return tagOf(name, uses)
}

/** Enumerations belong to a resource. Plain strings and numbers, mostly identifiers, are on the shared page. */
function sectionOf(name: string, schema: Schema, uses: Uses): Home {
  return schema.kind === 'enum' ? tagOf(name, uses) : { kind: 'shared' }
}

function tagOf(name: string, uses: Uses): Home {
  const [tag, ...others] = uses.tags.get(name) ?? []
  return tag !== undefined && others.length === 0 ? { kind: 'tag', tag } : { kind: 'shared' }
}

function isRooted(name: string, uses: Uses, homes: ReadonlyMap<string, Home>): boolean {
  const seen = new Set<string>()
  for (let at = name; ; ) {
    if (homes.get(at)?.kind !== 'nested') return true
    if (seen.has(at)) return false
    seen.add(at)
    at = uses.schemas.get(at)?.[0] ?? at
  }
}

function collectUses(api: Api): Uses {
  const within = new Map([...api.schemas].map(([name, schema]) => [name, referencesIn(schema)]))
  const bodies = new Map<string, string[]>()
  const answers = new Map<string, string[]>()
  const events = new Map<string, string[]>()
  const schemas = new Map<string, string[]>()
  const tags = new Map<string, Set<string>>()
  for (const [name, targets] of within) for (const target of targets) add(schemas, target, name)
  for (const operation of api.operations) {
    const sent = namesIn(operation.body?.contents)
    const given = operation.responses.flatMap((response) => namesIn(response.contents))
    for (const name of sent) add(bodies, name, operation.id)
    for (const name of given) add(answers, name, operation.id)
    for (const name of reachable([...sent, ...given], within)) {
      tags.set(name, (tags.get(name) ?? new Set()).add(operation.tag))
    }
  }
  for (const event of api.events)
    for (const name of namesIn(event.payload && [event.payload])) add(events, name, event.name)
  return { bodies, answers, events, schemas, tags }
}

/** Returns the component schemas that callers send, directly or within others. */
export function writtenSchemas(api: Api): ReadonlySet<string> {
  const within = new Map([...api.schemas].map(([name, schema]) => [name, referencesIn(schema)]))
  return reachable(
    api.operations.flatMap(({ body }) => namesIn(body?.contents)),
    within,
  )
}

function namesIn(contents: readonly ApiContent[] | undefined): string[] {
  return (contents ?? []).flatMap(({ schema }) => referencesIn(schema))
}

function reachable(from: readonly string[], within: Multimap): Set<string> {
  const found = new Set<string>()
  const waiting = [...from]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue
    found.add(name)
    waiting.push(...(within.get(name) ?? []))
  }
  return found
}

/** Returns the component schemas that a schema refers to, one entry for each reference. */
export function referencesIn(schema: Schema): string[] {
  return schema.kind === 'ref' ? [schema.name] : childrenOf(schema).flatMap(referencesIn)
}

function childrenOf(schema: Schema): Schema[] {
  switch (schema.kind) {
    case 'array':
      return [schema.items, ...schema.prefix]
    case 'object':
      return [
        ...schema.properties.map((property) => property.schema),
        ...(typeof schema.additional === 'string' ? [] : [schema.additional]),
        ...schema.patterns.map((pattern) => pattern.schema),
      ]
    case 'union':
    case 'intersection':
      return [...schema.members]
    default:
      return []
  }
}

function add(map: Map<string, string[]>, key: string, value: string): void {
  map.set(key, [...(map.get(key) ?? []), value])
}
