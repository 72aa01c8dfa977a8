/** Determines which differences a lens accounts for, from the lens declaration alone. */

import { holdsIn, sameName } from '../change/align.ts'
import type {
  Convert,
  FixedRequest,
  Lens,
  MovedParameter,
  ParameterLens,
  RequestPart,
} from '../change/change.ts'
import { placeIn, propertyStep } from '../change/inline.ts'
import {
  type DeclaredLocation,
  type Difference,
  type DifferenceCode,
  formatLocation,
} from '../diff/difference.ts'
import type { Scalar } from '../ir/model.ts'
import { isSite } from '../translate/inline-place.ts'

/** Returns whether the lens translates or explains the difference. */
export function claims(lens: Lens, difference: Difference): boolean {
  return (RULES[lens.kind] as (lens: Lens, difference: Difference) => boolean)(lens, difference)
}

/** Returns whether a lens may match no difference, because it describes behavior that no document shows. */
export function mayClaimNothing(lens: Lens): boolean {
  return lens.kind === 'ignored-parameter' || lens.kind === 'behaviour'
}

type Rules = {
  readonly [Kind in Lens['kind']]: (lens: Extract<Lens, { kind: Kind }>, found: Difference) => boolean
}

const RULES: Rules = {
  values: (lens, found) =>
    (isMember(found.code) &&
      onSchemas(lens.schemas, lens.property ?? '', found.at) &&
      isNamed(lens, found.value)) ||
    // The tags of a union are values of a property of its members, so renaming the values renames the tags.
    (found.code === 'union-member-retagged' && Object.hasOwn(lens.rename, String(found.value))),
  convert: (lens, found) =>
    onSchemas(lens.schemas, lens.property ?? '', found.at) && !isPresence(found, lens),
  rename: (lens, found) =>
    (found.code === 'property-removed' && exactly(lens.schemas, lens.from, found.at)) ||
    (isAddition(found.code) && exactly(lens.schemas, lens.to, found.at)) ||
    (found.code === 'discriminator-changed' && found.value === lens.from),
  replace: (lens, found) =>
    (found.code === 'property-removed' && lens.old.some((name) => exactly(lens.schemas, name, found.at))) ||
    (isAddition(found.code) && lens.new.some((name) => exactly(lens.schemas, name, found.at))),
  wrapped: (lens, found) =>
    (found.code === 'property-removed' && exactly(lens.schemas, lens.from, found.at)) ||
    (isAddition(found.code) && exactly(lens.schemas, lens.to, found.at)) ||
    (lens.from === lens.to &&
      onSchemas(lens.schemas, lens.to, found.at) &&
      !isPresence(found, { ...lens, property: lens.to })),
  drop: (lens, found) => found.code === 'property-removed' && exactly(lens.schemas, lens.property, found.at),
  default: (lens, found) =>
    (isAddition(found.code) || found.code === 'property-required' || found.code.startsWith('default-')) &&
    exactly(lens.schemas, lens.property, found.at),
  optional: (lens, found) =>
    found.code === 'property-optional' && exactly(lens.schemas, lens.property, found.at),
  moved: (lens, found) =>
    (found.code === 'property-removed' && isOnWay(lens.schemas, lens.from, found.at)) ||
    (isAddition(found.code) && isOnWay(lens.schemas, lens.to, found.at)),
  nullable: (lens, found) =>
    found.code === 'null-added' && exactly(lens.schemas, lens.property ?? '', found.at),
  'non-null': (lens, found) =>
    found.code === 'null-removed' && exactly(lens.schemas, lens.property ?? '', found.at),
  'leave-out': (lens, found) =>
    (found.code === 'enum-value-added' || found.code === 'union-member-added') &&
    (exactly([lens.unless], '', found.at) || onSchemas(lens.schemas, lens.property, found.at)),
  filter: ({ operation, parameter }, { at, code }) =>
    isParameter({ operations: [operation], in: 'query' }, parameter, at) && !isPresenceOfParameter(code),
  'renamed-parameter': (lens, { at, code }) =>
    (code === 'parameter-removed' && isParameter(lens, lens.from, at)) ||
    (/^parameter-added|^path-parameter-renamed$/.test(code) && isParameter(lens, lens.to, at)),
  'default-parameter': (lens, { at, code }) =>
    /^(parameter-(added-)?required|default-(removed|changed))$/.test(code) &&
    isParameter(lens, lens.name, at) &&
    at.path === '',
  'converted-parameter': (lens, { at, code }) =>
    isParameter(lens, lens.name, at) && !isPresenceOfParameter(code),
  'moved-parameter': ({ operations, from, to }, found) =>
    (found.code === 'body-added-required' &&
      to[0] === 'body' &&
      found.at.kind === 'body' &&
      holdsIn(operations, found.at.operation)) ||
    (/^(parameter|property)-removed$/.test(found.code) && isInRequest(operations, from, found)) ||
    (/^(parameter|property)-(added|added-required|required)$/.test(found.code) &&
      isInRequest(operations, to, found)),
  'ignored-parameter': (lens, { at, code }) =>
    code === 'parameter-removed' && isParameter(lens, lens.name, at),
  served: ({ from, by, fixed = {} }, found) =>
    (found.at.kind === 'operation' &&
      ((found.code === 'operation-removed' && found.at.operation === from) ||
        (/^(operation-(added|renamed)|path-changed|method-changed)$/.test(found.code) &&
          found.at.operation === by))) ||
    isFixed(by, fixed, found),
  status: ({ operations, from, to }, { at, code }) =>
    at.kind === 'response' &&
    holdsIn(operations, at.operation) &&
    ((code === 'status-removed' && at.status === from) || (code === 'status-added' && at.status === to)),
  'required-header': ({ header }, { at, code }) =>
    (code === 'parameter-required' || code === 'parameter-added-required') &&
    at.kind === 'parameter' &&
    at.in === 'header' &&
    sameHeader(at.name, header),
  'renamed-header': ({ from, to }, { at, code }) =>
    at.kind === 'event-header' &&
    ((code === 'header-removed' && sameHeader(at.name, from)) ||
      (code === 'header-added' && sameHeader(at.name, to))),
  'renamed-event': ({ from, to }, { at, code }) =>
    at.kind === 'event' &&
    ((code === 'event-removed' && at.event === from) || (code === 'event-added' && at.event === to)),
  behaviour: () => false,
  accept: ({ code, at }, found) =>
    code === found.code && (at.length === 0 || at.includes(formatLocation(found.at))),
}

/** Returns whether a difference is about a parameter, or a property of the body. */
function isInRequest(
  operations: readonly string[],
  [part, name]: MovedParameter['from'],
  { at, uses }: Difference,
): boolean {
  if (part !== 'body') return isParameter({ operations, in: part }, name, at)
  return (
    isSite(at) &&
    uses.some((use) => holdsIn(operations, use)) &&
    formatLocation(at) === formatLocation({ ...at, path: '' }) + propertyStep(name)
  )
}

/** Returns whether a difference is that the new operation requires a value that the lens fixes. */
function isFixed(by: string, fixed: FixedRequest, found: Difference): boolean {
  return (
    /^(parameter|property)-(added-)?required$/.test(found.code) &&
    REQUEST_PARTS.some((part) =>
      Object.keys(fixed[part] ?? {}).some((name) => isInRequest([by], [part, name], found)),
    )
  )
}

const REQUEST_PARTS: readonly RequestPart[] = ['path', 'query', 'header', 'body']

const isMember = (code: DifferenceCode): boolean =>
  code === 'enum-value-removed' || code === 'enum-value-added'
const isAddition = (code: DifferenceCode): boolean =>
  code === 'property-added' || code === 'property-added-required'

/** A conversion does not account for a property becoming required, optional or nullable. */
function isPresence({ at, code }: Difference, lens: Pick<Convert, 'schemas' | 'property'>): boolean {
  return exactly(lens.schemas, lens.property ?? '', at) && /^(property|access|null)-/.test(code)
}

function isNamed(lens: Extract<Lens, { kind: 'values' }>, value: Scalar | undefined): boolean {
  const names = [...Object.entries(lens.rename).flat(), ...Object.keys(lens.merge)]
  return names.includes(String(value))
}

/** Returns the locations of a property in each schema, or of the schemas themselves if the property is ''. */
const placesOf = (schemas: readonly string[], property: string): readonly string[] =>
  property === '' ? schemas : schemas.map((name) => name + propertyStep(property))

const exactly = (schemas: readonly string[], property: string, at: DeclaredLocation): boolean =>
  isSite(at) && placesOf(schemas, property).includes(formatLocation(at))

/** Returns whether a location is the property or inside its value. */
function onSchemas(schemas: readonly string[], property: string, at: DeclaredLocation): boolean {
  if (!isSite(at)) return false
  const found = formatLocation(at)
  return placesOf(schemas, property).some(
    (place) => found.startsWith(place) && /^$|^[.[{|]/.test(found.slice(place.length)),
  )
}

/** Returns whether a location is the property, or an enclosing object that was added or removed with it. */
const isOnWay = (schemas: readonly string[], path: readonly string[], at: DeclaredLocation): boolean =>
  path.some((name, index) =>
    exactly(
      schemas.map((each) => placeIn(each, path.slice(0, index))),
      name,
      at,
    ),
  )

type AtParameter = Extract<DeclaredLocation, { kind: 'parameter' }>

const isParameter = (
  lens: Pick<ParameterLens, 'operations' | 'in'>,
  name: string,
  at: DeclaredLocation,
): at is AtParameter =>
  at.kind === 'parameter' &&
  at.in === lens.in &&
  holdsIn(lens.operations, at.operation) &&
  sameName(at.in, at.name, name)

/**
 * Returns whether a code is about presence, default or serialization of a parameter, which a value conversion does
 * not cover.
 */
const isPresenceOfParameter = (code: DifferenceCode): boolean =>
  /^(parameter|default|serialization)-/.test(code)

const sameHeader = (a: string, b: string): boolean => sameName('header', a, b)
