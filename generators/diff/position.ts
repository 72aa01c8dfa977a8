/** The position of a comparison in two documents, and its result: findings, and the component pairs to compare. */
import { createHash } from 'node:crypto'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, Property, Scalar, Schema } from '../ir/model.ts'
import type { DeclaredLocation, DifferenceCode } from './difference.ts'
import { unwrap } from './unwrap.ts'

/** Directions as bits, so that one pass propagates both through the graph of components. */
export const REQUEST = 1
export const RESPONSE = 2
export const BOTH = REQUEST | RESPONSE

/**
 * Directions that an edit breaks, as bits. A narrowing rejects requests that were valid. A widening allows
 * responses that old readers do not expect.
 */
export const NARROWING = REQUEST
export const WIDENING = RESPONSE
export const HARMLESS = 0

export interface DiffFinding {
  readonly code: DifferenceCode
  readonly at: DeclaredLocation
  readonly message: string
  /** Directions in which the difference is breaking if the location is used in them. */
  readonly breaks: number
  /** Directions in which the difference can matter: a read-only property is never in a request. */
  readonly mask: number
  readonly old?: SourceLocation
  readonly new?: SourceLocation
  readonly value?: Scalar
  readonly components?: { readonly old: string; readonly new: string }
  /** The added or removed declaration, for proposals. */
  readonly subject?: NamedSubject
  /** Whether old readers rely on the removed property. */
  readonly required?: boolean
}

/** A named declaration that only one side has. Proposals look for its counterpart on the other side. */
export interface NamedSubject {
  readonly name: string
  readonly side: 'old' | 'new'
  /** Canonical text of its constraints: equal texts allow the same values. */
  readonly shape: string
  readonly examples: readonly unknown[]
  readonly description?: string
  /** Its properties, to detect moves into or out of it. */
  parts?(): readonly NamedSubject[]
}

/** A component of the old document and its counterpart in the new one. */
export interface Pair {
  readonly old: string
  readonly new: string
}

export interface Edge {
  readonly pair: Pair
  readonly mask: number
  /**
   * Set if the reference names a different component than before: one difference if the two allow different values.
   */
  readonly replaced?: {
    readonly at: DeclaredLocation
    readonly old: SourceLocation
    readonly new: SourceLocation
  }
}

export interface ComparisonResult {
  readonly findings: DiffFinding[]
  readonly edges: Edge[]
}

/** The position of a comparison: both documents, the result to add to, and the location. */
export interface ComparisonPosition {
  readonly old: Api
  readonly next: Api
  readonly result: ComparisonResult
  readonly mask: number
  readonly path: string
  locate(path: string): DeclaredLocation
}

/** Both documents, and the result of the operation or event being compared. */
export interface DocumentPair {
  readonly old: Api
  readonly next: Api
  readonly result: ComparisonResult
}

/** Also whether the service translates between the versions and serves the routes of both; otherwise, the new document replaces the old one. */
export interface OperationPair extends DocumentPair {
  readonly translated: boolean
}

/** Returns a position outside any component, with an empty path. */
export function positionAt(
  pair: DocumentPair,
  mask: number,
  locate: (path: string) => DeclaredLocation,
): ComparisonPosition {
  return { ...pair, mask, path: '', locate }
}

export const emptyResult = (): ComparisonResult => ({ findings: [], edges: [] })

/**
 * Returns a position further inside.
 *
 * @param step `.name`, `[]`, `{}` …
 */
export function inside(position: ComparisonPosition, step: string, mask = position.mask): ComparisonPosition {
  const path = position.path === '' && step.startsWith('.') ? step.slice(1) : position.path + step
  return { ...position, path, mask }
}

export { propertyStep } from '../change/inline.ts'

type FindingDetail = Partial<Pick<DiffFinding, 'value' | 'components' | 'subject' | 'mask' | 'required'>>

/** Adds a finding at the position. */
export function found(
  position: ComparisonPosition,
  code: DifferenceCode,
  breaks: number,
  message: string,
  places: { readonly old?: SourceLocation; readonly new?: SourceLocation },
  detail: FindingDetail = {},
): void {
  const at = position.locate(position.path)
  position.result.findings.push({ code, at, message, breaks, mask: position.mask, ...places, ...detail })
}

/** Returns the source locations of two nodes. */
export const places = (
  old: { readonly place: SourceLocation },
  next: { readonly place: SourceLocation },
) => ({
  old: old.place,
  new: next.place,
})

/** Returns a property or parameter as the subject of a proposal. */
export function subjectOf(
  side: 'old' | 'new',
  api: Api,
  { name, schema }: Pick<Property, 'name' | 'schema'>,
): NamedSubject {
  const target = targetOf(api, schema)
  const description = schema.description ?? target.description
  return {
    name,
    side,
    shape: shapeOf(api, schema, 3),
    examples: [...schema.examples, ...(target === schema ? [] : target.examples)],
    ...(description !== undefined && { description }),
    ...(target.kind === 'object' && {
      parts: () => target.properties.map((property) => subjectOf(side, api, property)),
    }),
  }
}

/** Follows references to the first schema that is not a reference. Returns an unresolvable reference itself. */
export function targetOf(api: Api, schema: Schema): Schema {
  const seen = new Set<string>()
  let at = schema
  while (at.kind === 'ref' && !seen.has(at.name)) {
    seen.add(at.name)
    const target = api.schemas.get(at.name)
    if (!target) return at
    at = target
  }
  return at
}

const PROSE = new Set([
  'place',
  'description',
  'title',
  'examples',
  'deprecated',
  'extensions',
  'default',
  'partial',
])

/** Cached shapes by schema and depth, because unions and proposals need the same ones repeatedly. */
const shapes = new WeakMap<Schema, string[]>()

/**
 * Returns the canonical text of a schema's constraints. References are resolved to the given depth; deeper ones are
 * represented by name.
 */
export function shapeOf(api: Api, schema: Schema, depth: number): string {
  const known = shapes.get(schema) ?? []
  if (known.length === 0) shapes.set(schema, known)
  const shape = known[depth] ?? makeShape(api, schema, depth)
  known[depth] = shape
  return shape
}

function makeShape(api: Api, written: Schema, depth: number): string {
  const schema = unwrap(written)
  if (schema.kind === 'ref') {
    const target = depth > 0 ? api.schemas.get(schema.name) : undefined
    const shape = target ? shapeOf(api, target, depth - 1) : `ref ${schema.name}`
    return schema.nullable ? `${shape}|null` : shape
  }
  const facts = Object.entries(schema)
    .filter(([name, value]) => !PROSE.has(name) && value !== undefined && value !== false)
    .map(([name, value]) => [name, factOf(api, value, depth)] as const)
  return JSON.stringify(facts.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const SHORT = 80

/** Returns the shape of a part, or its digest if it is long; otherwise shapes would grow with every level. */
function partOf(api: Api, schema: Schema, depth: number): string {
  const shape = shapeOf(api, schema, depth)
  return shape.length <= SHORT ? shape : createHash('sha256').update(shape).digest('base64')
}

function factOf(api: Api, value: unknown, depth: number): unknown {
  if (Array.isArray(value)) {
    const facts = value.map((each) => factOf(api, each, depth))
    return facts.every((each) => typeof each === 'string') ? facts.sort() : facts
  }
  if (typeof value !== 'object' || value === null) return value
  if ('kind' in value) return partOf(api, value as Schema, depth)
  if (value instanceof Map) return [...value].sort()
  if ('name' in value && 'schema' in value) {
    const { name, required, schema } = value as Property
    return `${name}${required ? '!' : ''}: ${partOf(api, schema, depth)}`
  }
  if ('pattern' in value && 'schema' in value)
    return `${value.pattern}: ${partOf(api, value.schema as Schema, depth)}`
  return JSON.stringify(value)
}

/** Compares two schemas at a position; rules for objects, lists and unions use it to recurse. */
export type Compare = (position: ComparisonPosition, before: Schema, after: Schema) => void
