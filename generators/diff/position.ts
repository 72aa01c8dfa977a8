/** Where a comparison is in two documents, and its result: what differs, and the pairs of components that it leads to. */
import { createHash } from 'node:crypto'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, Property, Scalar, Schema } from '../ir/model.ts'
import type { DeclaredLocation, DifferenceCode } from './difference.ts'

/** Directions as bits, so that they spread over the graph of components in one walk. */
export const REQUEST = 1
export const RESPONSE = 2
export const BOTH = REQUEST | RESPONSE

/**
 * Whom an edit breaks, as bits. A narrowing refuses requests that were valid; a widening brings responses that old
 * readers do not know.
 */
export const NARROWING = REQUEST
export const WIDENING = RESPONSE
export const HARMLESS = 0

export interface DiffFinding {
  readonly code: DifferenceCode
  readonly at: DeclaredLocation
  readonly message: string
  /** Directions in which it breaks somebody, where it is used in them. */
  readonly breaks: number
  /** Directions that it can matter in at all: a read-only property is in no request. */
  readonly mask: number
  readonly old?: SourceLocation
  readonly new?: SourceLocation
  readonly value?: Scalar
  readonly components?: { readonly old: string; readonly new: string }
  /** What was added or removed, for proposals. */
  readonly subject?: NamedSubject
  /** Whether old readers rely on the property that went. */
  readonly required?: boolean
}

/** A named thing that one side has: proposals look for its counterpart on the other. */
export interface NamedSubject {
  readonly name: string
  readonly side: 'old' | 'new'
  /** Canonical text of its rules: equal texts admit the same values. */
  readonly shape: string
  readonly examples: readonly unknown[]
  readonly description?: string
  /** Its own properties: what moved into it, or out of it, is among them. */
  parts?(): readonly NamedSubject[]
}

/** A component of the old document beside the component of the new one that stands in its place. */
export interface Pair {
  readonly old: string
  readonly new: string
}

export interface Edge {
  readonly pair: Pair
  readonly mask: number
  /** The reference names another component than before: one difference here, if the two admit different values. */
  readonly replaced?: {
    readonly at: DeclaredLocation
    readonly old: SourceLocation
    readonly new: SourceLocation
  }
}

/** What a comparison has found so far. */
export interface ComparisonResult {
  readonly findings: DiffFinding[]
  readonly edges: Edge[]
}

/** Where a comparison is: both documents, the result that it adds to, and how it names a place. */
export interface ComparisonPosition {
  readonly old: Api
  readonly next: Api
  readonly result: ComparisonResult
  readonly mask: number
  readonly path: string
  locate(path: string): DeclaredLocation
}

/** Both documents, and the result for the operation or event that is compared. */
export interface DocumentPair {
  readonly old: Api
  readonly next: Api
  readonly result: ComparisonResult
}

/** A position outside any component, whose path starts at a location of its own. */
export function positionAt(
  pair: DocumentPair,
  mask: number,
  locate: (path: string) => DeclaredLocation,
): ComparisonPosition {
  return { ...pair, mask, path: '', locate }
}

export const emptyResult = (): ComparisonResult => ({ findings: [], edges: [] })

/** The same position further inside. @param step `.name`, `[]`, `{}` … */
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

/** The places of two schemas, parameters or the like. */
export const places = (
  old: { readonly place: SourceLocation },
  next: { readonly place: SourceLocation },
) => ({
  old: old.place,
  new: next.place,
})

/** A property or the like as the subject of a proposal. */
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

/** Follows references to what is no reference; a reference to nothing stays itself. */
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

/** By schema, then by depth: each is made once, however many unions and proposals ask. */
const shapes = new WeakMap<Schema, string[]>()

/** Canonical text of the rules of a schema; references are followed a few levels, then stand by name. */
export function shapeOf(api: Api, schema: Schema, depth: number): string {
  const known = shapes.get(schema) ?? []
  if (known.length === 0) shapes.set(schema, known)
  const shape = known[depth] ?? makeShape(api, schema, depth)
  known[depth] = shape
  return shape
}

function makeShape(api: Api, schema: Schema, depth: number): string {
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

/** The shape of a part, no longer than a digest: shapes of shapes would grow with every level. */
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

/** Compares at a step inside: how the rules for objects, lists and unions go on. */
export type Compare = (position: ComparisonPosition, before: Schema, after: Schema) => void
