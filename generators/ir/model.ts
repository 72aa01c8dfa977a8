/**
 * The intermediate representation: what a document of one version says, complete in itself and located.
 * Every node has a `kind` (where it is a union) and a `place`, so that any later complaint can
 * name the line of the document that caused it.
 */

import type { SourceLocation } from '../diagnostics/place.ts'

/** Specification extensions (`x-…`) of a node, under their names as written. */
export type Extensions = Readonly<Record<string, unknown>>

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean

export type Scalar = string | number | boolean | null

interface Described {
  readonly place: SourceLocation
  readonly description?: string
  readonly deprecated: boolean
  readonly extensions: Extensions
}

interface SchemaBase extends Described {
  readonly title?: string
  readonly default?: unknown
  readonly examples: readonly unknown[]
  /** Whether null is a member beside what `kind` admits. */
  readonly nullable: boolean
  /** Whether values of other types than `kind` fit as well, since the document names no type. */
  readonly untyped?: true
  /** Whether the node says less than the document: validators are made of the API's `rules` of its pointer. */
  readonly partial?: true
  /** What the document says of it that this node has no room for. */
  readonly unheld?: Unheld
}

/** Keywords as they are written, for the gate, which misses none. */
export interface Unheld {
  readonly keywords: Readonly<Record<string, unknown>>
  /** Members of an enumeration that the keywords beside it admit, where those are fewer. */
  readonly admitted?: readonly Scalar[]
  /** Whether the last part of an intersection stands for such keywords, and speaks of its own type alone. */
  readonly loose?: boolean
  /** Keywords of types, where no `type` stands: values of other types fit. */
  readonly untyped?: Readonly<Record<string, unknown>>
}

export interface AnySchema extends SchemaBase {
  readonly kind: 'any'
}
export interface NeverSchema extends SchemaBase {
  readonly kind: 'never'
}
export interface NullSchema extends SchemaBase {
  readonly kind: 'null'
}
export interface BooleanSchema extends SchemaBase {
  readonly kind: 'boolean'
}
export interface NumberSchema extends SchemaBase {
  readonly kind: 'number'
  readonly integer: boolean
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
}
export interface StringSchema extends SchemaBase {
  readonly kind: 'string'
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
}
/** `enum` and `const`. An open enum may grow: readers must expect members that are not listed. */
export interface EnumSchema extends SchemaBase {
  readonly kind: 'enum'
  readonly values: readonly Scalar[]
  readonly open: boolean
}
export interface ArraySchema extends SchemaBase {
  readonly kind: 'array'
  readonly items: Schema
  readonly prefix: readonly Schema[]
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems: boolean
}
export interface Property {
  readonly name: string
  readonly required: boolean
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly schema: Schema
  readonly place: SourceLocation
}
export interface ObjectSchema extends SchemaBase {
  readonly kind: 'object'
  /** In the order of the document. */
  readonly properties: readonly Property[]
  /** What a property that is not listed must be: anything (open), nothing (closed), or a schema (a map). */
  readonly additional: 'open' | 'closed' | Schema
  readonly patterns: readonly { readonly pattern: string; readonly schema: Schema }[]
  readonly propertyNames?: Schema
  readonly minProperties?: number
  readonly maxProperties?: number
}
export interface UnionSchema extends SchemaBase {
  readonly kind: 'union'
  readonly mode: 'oneOf' | 'anyOf'
  readonly members: readonly Schema[]
  readonly discriminator?: {
    readonly property: string
    /** Discriminator value → name of the component. */
    readonly mapping: ReadonlyMap<string, string>
  }
}
export interface IntersectionSchema extends SchemaBase {
  readonly kind: 'intersection'
  readonly members: readonly Schema[]
}
/** A reference to a component schema of the same document, by its name there. */
export interface RefSchema extends SchemaBase {
  readonly kind: 'ref'
  readonly name: string
}

export type Schema =
  | AnySchema
  | NeverSchema
  | NullSchema
  | BooleanSchema
  | NumberSchema
  | StringSchema
  | EnumSchema
  | ArraySchema
  | ObjectSchema
  | UnionSchema
  | IntersectionSchema
  | RefSchema

export interface ApiParameter extends Described {
  /** As on the wire, `created[gte]` for example. */
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required: boolean
  readonly schema: Schema
  readonly example?: unknown
  readonly serialization: Serialization
}

/** How a value that is no single word is written. Defaults are filled in. */
export interface Serialization {
  readonly style: string
  readonly explode: boolean
  readonly allowReserved: boolean
  readonly allowEmptyValue: boolean
  /** Where `content` says it. */
  readonly mediaType?: string
}

export interface ApiContent {
  readonly mediaType: string
  readonly schema: Schema
  readonly examples: readonly unknown[]
  readonly place: SourceLocation
  /** How properties of a form are written, by name, as in the document. */
  readonly encoding: Readonly<Record<string, unknown>>
}

export interface ApiBody extends Described {
  readonly required: boolean
  readonly contents: readonly ApiContent[]
}

export interface Response extends Described {
  /** `200`, `4XX` or `default`, as in the document. */
  readonly status: string
  readonly headers: readonly ApiParameter[]
  readonly contents: readonly ApiContent[]
}

/** One alternative of a `security` list: every scheme in it must hold. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

export interface ApiOperation extends Described {
  readonly id: string
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS' | 'HEAD' | 'PATCH' | 'TRACE'
  readonly path: string
  readonly tag: string
  readonly summary?: string
  /** Path-level and operation-level parameters together, in the order of the document. */
  readonly parameters: readonly ApiParameter[]
  readonly body?: ApiBody
  readonly responses: readonly Response[]
  readonly security: readonly SecurityRequirement[]
  /** Requests that the service makes in return, each named after the operation, the callback and its method. */
  readonly callbacks: readonly ApiCallback[]
}

/** A webhook of the document: `book.lent` for example. */
export interface EventType extends Described {
  readonly name: string
  readonly tag: string
  readonly summary?: string
  readonly headers: readonly ApiParameter[]
  readonly payload?: ApiContent
  /** All that `payload` is the first of. */
  readonly body?: ApiBody
}

/** An event that an operation asks for. */
export interface ApiCallback extends EventType {
  /** Where it is sent: an expression. */
  readonly url: string
}

export interface Tag {
  readonly name: string
  readonly extensions: Extensions
  readonly description?: string
}

/** One document: one version of the API. */
export interface Api extends Described {
  readonly version: string
  readonly file: string
  readonly title: string
  /** Extensions of `info`. */
  readonly info: Extensions
  readonly tags: readonly Tag[]
  /** Component schemas by name, in the order of the document. */
  readonly schemas: ReadonlyMap<string, Schema>
  /** Schemas that no node can hold whole, and all that they refer to, by pointer. */
  readonly rules: ReadonlyMap<string, JsonSchema>
  readonly operations: readonly ApiOperation[]
  readonly events: readonly EventType[]
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly securitySchemes: Readonly<Record<string, unknown>>
  /** The document itself as plain JSON, for what is served or printed as it stands. */
  readonly document: Readonly<Record<string, unknown>>
}

/** A file to be written, relative to the output directory. */
export interface OutputFile {
  readonly path: string
  readonly text: string
}
