/**
 * Finds locations that translations do not reach. One walk over the plain document finds every occurrence of a
 * component, under any keyword, and compares it with the locations that have rewrites. So it also finds
 * locations that no code handles.
 */

import { placeAs } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import type { Api, RefSchema, Schema } from '../ir/model.ts'
import { placeNear } from '../ir/places.ts'
import { isObject } from '../ir/source.ts'
import { stabilityAt } from '../ir/stability.ts'
import { indexReferences, lookUp, type References, SUBSCHEMAS } from '../runtime/explain/references.ts'
import { sidesOf, type TranslationStep } from './model.ts'

/** A reference to a component, or a different construct whose values may be of that component. */
interface Occurrence {
  readonly pointer: string
  readonly component: string
}

/** A part of the document to search. */
interface DocumentPart {
  readonly pointer: string
  readonly isSchema: boolean
}

/** Occurrences in a part, and other parts that it refers to. */
interface FoundParts {
  readonly occurrences: readonly Occurrence[]
  readonly leads: readonly DocumentPart[]
}

interface Index {
  readonly references: References
  /** Results by pointer, so that each part is searched once. */
  readonly known: Map<string, FoundParts>
}

const indexes = new WeakMap<Api, Index>()

/** Adds each occurrence without a rewrite to the step's missed places. */
export function auditOccurrences(step: TranslationStep): void {
  const [api] = sidesOf(step, step.old, step.next)
  const index = indexOf(api)
  const seen = new Set<string>()
  const waiting = rootsOf(step, api).map((pointer): DocumentPart => ({ pointer, isSchema: false }))
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    if (seen.has(part.pointer)) continue
    seen.add(part.pointer)
    const { occurrences, leads } = lookThrough(api, index, part)
    waiting.push(...leads)
    for (const { pointer, component } of occurrences) {
      if (stabilityAt(api, pointer) === 'alpha') continue
      if (step.reached.has(pointer)) waiting.push(componentPart(component))
      else if (!isByHand(step, pointer))
        for (const each of closureOf(api, index, component)) miss(step, api, pointer, each)
    }
  }
}

const componentPart = (name: string): DocumentPart => ({
  pointer: `/components/schemas/${escapePointer(name)}`,
  isSchema: true,
})

/** Returns a component and every component that it refers to, directly or indirectly. */
function closureOf(api: Api, index: Index, component: string): ReadonlySet<string> {
  const all = new Set([component])
  const parts = new Map([[componentPart(component).pointer, componentPart(component)]])
  for (const part of parts.values()) {
    const { occurrences, leads } = lookThrough(api, index, part)
    for (const each of occurrences) all.add(each.component)
    for (const each of [...occurrences.map((found) => componentPart(found.component)), ...leads])
      if (!parts.has(each.pointer)) parts.set(each.pointer, each)
  }
  return all
}

function miss(step: TranslationStep, api: Api, pointer: string, component: string): void {
  const [before, after] = [step.old.schemas.get(component), step.next.schemas.get(component)]
  if (!before || !after) return
  const refTo = (schema: Schema): RefSchema => {
    const { place, deprecated, extensions, examples } = schema
    return { kind: 'ref', name: component, nullable: false, place, deprecated, extensions, examples }
  }
  const place = placeAs(placeNear(api, pointer), pointer)
  step.missed.push({ place, rewrite: step.aside().pair(refTo(before), refTo(after)) })
}

/** Returns whether a lens function makes the value of an enclosing property, including its contents. */
function isByHand({ byHand }: TranslationStep, pointer: string): boolean {
  if (byHand.size === 0) return false
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) if (byHand.has(at)) return true
  return false
}

/** Returns the pointers of everything translated in the step's direction, in the source document. */
function rootsOf(step: TranslationStep, api: Api): string[] {
  const [, other] = sidesOf(step, step.old, step.next)
  const ids = new Set(other.operations.map(({ id }) => id))
  const names = new Set(other.events.map(({ name }) => name))
  const isUp = step.direction === 'up'
  return [
    ...api.operations
      .filter(({ id }) => ids.has(id))
      .flatMap(({ place: { pointer } }) => [
        ...partsOf(api, pointer, isUp),
        ...(isUp ? [`${pointer.slice(0, pointer.lastIndexOf('/'))}/parameters`] : []),
      ]),
    ...api.events
      .filter(({ name }) => names.has(name))
      .flatMap(({ place }) => partsOf(api, place.pointer, !isUp)),
  ]
}

/**
 * @param asks whether to return the parts of the request; otherwise those of the response. For callbacks, the roles
 * are swapped. Callbacks that the program itself renders in each version are left out.
 */
function partsOf(api: Api, operation: string, asks: boolean): string[] {
  const own = asks ? ['parameters', 'requestBody'] : ['responses']
  const { references } = indexOf(api)
  const callbacks = membersAt(api, references, `${operation}/callbacks`).flatMap((callback) =>
    membersAt(api, references, callback).flatMap((item) => membersAt(api, references, item)),
  )
  return [
    ...own.map((name) => `${operation}/${name}`),
    ...callbacks
      .filter((pointer) => {
        const callback = lookUp(api.document, pointer)
        return isObject(callback) && callback['x-translated-by'] !== 'handler'
      })
      .flatMap((pointer) => partsOf(api, pointer, !asks)),
  ]
}

/** Returns the pointers of an object's members, following a reference. */
function membersAt(api: Api, references: References, pointer: string): string[] {
  const value = lookUp(api.document, pointer)
  if (!isObject(value)) return []
  const target = typeof value.$ref === 'string' ? references.pointerOf(value, value.$ref) : pointer
  const members = target === undefined ? undefined : lookUp(api.document, target)
  return isObject(members) ? Object.keys(members).map((name) => `${target}/${escapePointer(name)}`) : []
}

function indexOf(api: Api): Index {
  const known = indexes.get(api)
  if (known) return known
  const openapi30 = String(api.document.openapi).startsWith('3.0')
  const index: Index = { references: indexReferences(api.document, openapi30), known: new Map() }
  indexes.set(api, index)
  return index
}

function lookThrough(api: Api, index: Index, { pointer: root, isSchema }: DocumentPart): FoundParts {
  const known = index.known.get(root)
  if (known) return known
  const occurrences: Occurrence[] = []
  const leads: DocumentPart[] = []
  const visit = (value: unknown, pointer: string, isSchema: boolean): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const [at, each] of value.entries()) visit(each, `${pointer}/${at}`, isSchema)
      return
    }
    const object = value as Readonly<Record<string, unknown>>
    for (const target of targetsOf(object, index.references).map((each) => lastOf(api, index, each))) {
      const component = COMPONENT.exec(target)?.[1]
      if (component === undefined) leads.push({ pointer: target, isSchema })
      else occurrences.push({ pointer, component: nameIn(component) })
    }
    if (isSchema) occurrences.push(...heirs(api, index, object, pointer))
    for (const [name, member] of Object.entries(object)) {
      const at = `${pointer}/${escapePointer(name)}`
      const how = isSchema ? SUBSCHEMAS.get(name) : undefined
      if (!isSchema && !SILENT.test(name)) visit(member, at, name === 'schema')
      else if (how === 'named' && isObject(member))
        for (const [key, each] of Object.entries(member)) visit(each, `${at}/${escapePointer(key)}`, true)
      else if (how !== undefined) visit(member, at, true)
    }
  }
  visit(lookUp(api.document, root), root, isSchema)
  const found = { occurrences, leads }
  index.known.set(root, found)
  return found
}

/** Follows references that lead only to references, up to a component or a different target. */
function lastOf(api: Api, { references }: Index, first: string): string {
  const seen = new Set<string>()
  let at = first
  while (!COMPONENT.test(at) && !seen.has(at)) {
    seen.add(at)
    const value = lookUp(api.document, at)
    const [target] = isObject(value) ? targetsOf(value, references) : []
    if (target !== undefined) at = target
  }
  return at
}

const COMPONENT = /^\/components\/schemas\/([^/]+)$/
/** Members outside schemas that hold no API values. */
const SILENT = /^(examples?|links|callbacks|security|servers|tags|x-.*)$/

const nameIn = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')

const targetsOf = (value: Readonly<Record<string, unknown>>, references: References): string[] =>
  [value.$ref, value.$dynamicRef].flatMap((ref) =>
    typeof ref === 'string' ? (references.pointerOf(value, ref) ?? []) : [],
  )

/**
 * Returns components that inherit, through `allOf`, from a component with a discriminator that lists no members
 * (OpenAPI, Discriminator Object).
 */
function heirs(
  api: Api,
  { references }: Index,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
): Occurrence[] {
  if (!isObject(value.discriminator) || 'oneOf' in value || 'anyOf' in value) return []
  const at = `${pointer}/discriminator`
  const isHeir = (schema: unknown): boolean =>
    isObject(schema) &&
    Array.isArray(schema.allOf) &&
    schema.allOf.some((part) => isObject(part) && targetsOf(part, references).includes(pointer))
  const { components } = api.document
  const schemas = isObject(components) && isObject(components.schemas) ? components.schemas : {}
  return Object.entries(schemas)
    .filter(([, schema]) => isHeir(schema))
    .map(([component]) => ({ pointer: at, component }))
}
