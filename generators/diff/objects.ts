/** Compares objects, including merged ones, by their properties, wherever these are declared. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { ObjectSchema, Property } from '../ir/model.ts'
import { declaredStability } from '../ir/stability.ts'
import { compareBound } from './bounds.ts'
import { type Declaration, type Merged, type MergedProperty, schemaOf } from './merge.ts'
import {
  BOTH,
  type Compare,
  type ComparisonPosition,
  found,
  HARMLESS,
  inside,
  NARROWING,
  places,
  propertyStep,
  REQUEST,
  RESPONSE,
  subjectOf,
  WIDENING,
} from './position.ts'
import { compareStability } from './stability.ts'

/** Compares two objects. */
export function compareObjects(
  position: ComparisonPosition,
  old: Merged,
  next: Merged,
  compare: Compare,
): void {
  const at = { old: old.place, new: next.place }
  for (const [name, held] of old.properties) {
    const other = next.properties.get(name)
    if (other) compareHeld(position, held, other, compare)
    else propertyRemoved(positionOf(position, held), held.property, at)
  }
  for (const [name, held] of next.properties) {
    if (old.properties.has(name)) continue
    propertyAdded(positionOf(position, held), held.property, at)
    // Until now, the property was an entry of the map.
    if (typeof old.additional === 'object')
      compare(
        inside(positionOf(position, held), propertyStep(name), maskOf(position.mask, held.property)),
        old.additional,
        held.property.schema,
      )
  }
  compareAdditional(position, old, next, compare)
  comparePatternProperties(position, old, next, compare)
  compareNames(position, old, next, compare)
  const schemas = (name: BoundName) => [holderOf(old, name), holderOf(next, name)] as const
  const least = { name: 'minProperties', side: 'lower' } as const
  const [was, is] = [bound(old, 'minProperties'), bound(next, 'minProperties')]
  // `minProperties` has no effect if at least as many properties are required.
  const isImplied = (value: number | undefined, by: Merged) => (value ?? 0) <= requiredIn(by)
  if (!(isImplied(is, old) && isImplied(was, next)))
    compareBound(position, ...schemas('minProperties'), { ...least, old: was, new: is })
  const most = { name: 'maxProperties', side: 'upper' } as const
  compareBound(position, ...schemas('maxProperties'), {
    ...most,
    old: bound(old, 'maxProperties'),
    new: bound(next, 'maxProperties'),
  })
}

type BoundName = 'minProperties' | 'maxProperties'

/** Returns the object that has the bound, or the first one. */
const holderOf = ({ objects }: Merged, name: BoundName): ObjectSchema =>
  objects.find((each) => each[name] !== undefined) ?? objects[0]!

function bound({ objects }: Merged, name: BoundName): number | undefined {
  const all = objects
    .flatMap((each) => each[name] ?? [])
    .filter((value) => value > 0 || name === 'maxProperties')
  if (all.length === 0) return undefined
  return name === 'minProperties' ? Math.max(...all) : Math.min(...all)
}

/** Returns the number of properties that every object has in both directions. */
const requiredIn = ({ properties }: Merged): number =>
  [...properties.values()].filter(
    ({ property: { required, readOnly, writeOnly } }) => required && !readOnly && !writeOnly,
  ).length

/**
 * Compares a property. A difference that one component causes in many objects is reported once, at that component.
 */
function compareHeld(
  position: ComparisonPosition,
  old: MergedProperty,
  next: MergedProperty,
  compare: Compare,
): void {
  const [before, after] = [byOwner(old), byOwner(next)]
  const same = before.size === after.size && [...before.keys()].every((owner) => after.has(owner))
  const changed = [...after].find(([owner, all]) => isRequired(all) !== isRequired(before.get(owner) ?? []))
  comparePresence(
    same ? positionOf(position, changed?.[1][0] ?? next) : position,
    old.property,
    next.property,
  )
  const here = (owner: ComparisonPosition) => positionWithin(owner, old.property, next.property)
  if (!same)
    return compare(
      here(position),
      schemaOf(position.old, old.declared),
      schemaOf(position.next, next.declared),
    )
  for (const [owner, all] of after)
    compare(
      here(positionOf(position, all[0]!)),
      schemaOf(position.old, before.get(owner)!),
      schemaOf(position.next, all),
    )
}

const isRequired = (all: readonly Declaration[]): boolean => all.some((each) => each.property.required)

function byOwner({ declared }: MergedProperty): Map<string | undefined, Declaration[]> {
  const owners = new Map<string | undefined, Declaration[]>()
  for (const each of declared) {
    const known = owners.get(each.owner)
    if (known) known.push(each)
    else owners.set(each.owner, [each])
  }
  return owners
}

function positionOf(position: ComparisonPosition, { owner }: Declaration): ComparisonPosition {
  if (owner === undefined) return position
  return { ...position, path: '', locate: (path) => ({ kind: 'schema', component: owner, path }) }
}

/**
 * Returns the directions that a property occurs in: read-only properties are not in requests, write-only properties
 * are not in responses.
 */
function maskOf(mask: number, property: Property): number {
  return mask & ~(property.readOnly ? REQUEST : 0) & ~(property.writeOnly ? RESPONSE : 0)
}

function propertyRemoved(
  position: ComparisonPosition,
  property: Property,
  at: { readonly new: SourceLocation },
): void {
  const mask = maskOf(position.mask, property)
  const subject = subjectOf('old', position.old, property)
  const where = inside(position, propertyStep(property.name), mask)
  const said = `${property.name} was removed`
  const detail = { subject, ...(property.required && { required: true }) }
  found(where, 'property-removed', BOTH, said, { old: property.place, new: at.new }, detail)
}

function propertyAdded(
  position: ComparisonPosition,
  property: Property,
  at: { readonly old: SourceLocation },
): void {
  const mask = maskOf(position.mask, property)
  const subject = subjectOf('new', position.next, property)
  const where = inside(position, propertyStep(property.name), mask)
  const lines = { old: at.old, new: property.place }
  if (property.required && (mask & REQUEST) !== 0) {
    const said = `${property.name} was added and is required`
    found(where, 'property-added-required', REQUEST, said, lines, { subject })
  } else found(where, 'property-added', HARMLESS, `${property.name} was added`, lines, { subject })
}

function comparePresence(position: ComparisonPosition, a: Property, b: Property): void {
  const here = positionWithin(position, a, b)
  if (!a.required && b.required) found(here, 'property-required', NARROWING, 'is now required', places(a, b))
  if (a.required && !b.required) found(here, 'property-optional', WIDENING, 'may now be absent', places(a, b))
  compareAccess(inside(position, propertyStep(b.name)), a, b)
  compareStability(here, declaredStability(a.schema), declaredStability(b.schema), BOTH, places(a, b))
}

/** Returns the position of a property, in the directions that both versions of it occur in. */
const positionWithin = (position: ComparisonPosition, a: Property, b: Property): ComparisonPosition =>
  inside(position, propertyStep(b.name), maskOf(position.mask, a) & maskOf(position.mask, b))

function compareAccess(position: ComparisonPosition, a: Property, b: Property): void {
  const access = ({ readOnly, writeOnly }: Property) =>
    readOnly ? 'read-only' : writeOnly ? 'write-only' : 'read and written'
  if (access(a) === access(b)) return
  const lost = (b.readOnly && !a.readOnly ? REQUEST : 0) | (b.writeOnly && !a.writeOnly ? RESPONSE : 0)
  // A required property that becomes writable is missing from the requests of old callers.
  const owed = a.readOnly && !b.readOnly && b.required ? REQUEST : 0
  found(position, 'access-changed', lost | owed, `is now ${access(b)}; it was ${access(a)}`, places(a, b))
}

/** Compares unlisted properties: none (closed), values of a schema (map), any value (open). */
function compareAdditional(position: ComparisonPosition, old: Merged, next: Merged, compare: Compare): void {
  const [a, b] = [old.additional, next.additional]
  const at = { old: old.objects[0]!.place, new: next.objects[0]!.place }
  if (typeof a === 'object' && typeof b === 'object') return compare(inside(position, '{}'), a, b)
  if (a === b) return
  if (typeof b === 'object') {
    const breaks = a === 'closed' ? WIDENING : NARROWING
    return found(position, 'map-added', breaks, 'unlisted properties now have a schema', at)
  }
  if (typeof a === 'object') {
    const breaks = b === 'closed' ? BOTH : WIDENING
    return found(position, 'map-removed', breaks, 'unlisted properties no longer have a schema', at)
  }
  // The service sends only declared properties, so opening an object does not affect readers.
  if (b === 'closed') found(position, 'object-closed', NARROWING, 'now rejects unlisted properties', at)
  else found(position, 'object-opened', 0, 'no longer rejects unlisted properties', at)
}

function comparePatternProperties(
  position: ComparisonPosition,
  old: Merged,
  next: Merged,
  compare: Compare,
): void {
  const patternsOf = ({ objects }: Merged) =>
    new Map(objects.flatMap((each) => each.patterns).map(({ pattern, schema }) => [pattern, schema]))
  const [was, is] = [patternsOf(old), patternsOf(next)]
  const step = (pattern: string) => inside(position, `{${pattern}}`)
  for (const [pattern, schema] of was) {
    const other = is.get(pattern)
    if (other) compare(step(pattern), schema, other)
    else
      found(step(pattern), 'map-removed', BOTH, `properties that match ${pattern} no longer have a schema`, {
        old: schema.place,
        new: next.place,
      })
  }
  for (const [pattern, schema] of is) {
    if (was.has(pattern)) continue
    const breaks = old.additional === 'closed' ? WIDENING : NARROWING
    const lines = { old: old.place, new: schema.place }
    found(step(pattern), 'map-added', breaks, `properties that match ${pattern} now have a schema`, lines)
  }
}

function compareNames(position: ComparisonPosition, old: Merged, next: Merged, compare: Compare): void {
  const namesOf = ({ objects }: Merged) => objects.flatMap((each) => each.propertyNames ?? [])[0]
  const [a, b] = [namesOf(old), namesOf(next)]
  const here = inside(position, '{name}')
  if (a && b) compare(here, a, b)
  else if (b)
    found(here, 'type-narrowed', NARROWING, 'property names are now restricted', {
      old: old.place,
      new: b.place,
    })
  else if (a)
    found(here, 'type-widened', WIDENING, 'property names are no longer restricted', {
      old: a.place,
      new: next.place,
    })
}
