/**
 * The intermediate representation (IR) of one version's document. It is complete and located: every node has a
 * `place`, so that findings can name its line; nodes of unions have a `kind`.
 */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { TypeMapping } from './type-mapping.ts'

/** Specification extensions (`x-…`) of a node, by their full names. */
export type Extensions = Readonly<Record<string, unknown>>

/** A schema in JSON Schema 2020-12. */
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
  /** Whether null is valid in addition to values of `kind`. */
  readonly nullable: boolean
  /** Whether values of other types are also valid, because the document gives no type. */
  readonly untyped?: true
  /** Whether the node is less strict than the document. Validators then use the API's `rules` for its pointer. */
  readonly partial?: true
  /** Keywords of the document that this node does not represent. */
  readonly unheld?: Unheld
}

/** Raw keywords, so that the gate can compare keywords that the IR does not represent. */
export interface Unheld {
  readonly keywords: Readonly<Record<string, unknown>>
  /** The members of an enumeration that its other keywords allow, if those are fewer. */
  readonly admitted?: readonly Scalar[]
  /** Whether the last part of an intersection represents such keywords and applies only to values of its type. */
  readonly loose?: boolean
  /** Type-specific keywords of a schema without `type`; values of other types are valid. */
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
/** `enum` and `const`. Readers of an open enumeration must accept values that are not listed. */
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
  /** In document order. */
  readonly properties: readonly Property[]
  /** Unlisted properties: any value (open), none (closed), or values of a schema (map). */
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
    /** Discriminator value → component name. */
    readonly mapping: ReadonlyMap<string, string>
  }
}
export interface IntersectionSchema extends SchemaBase {
  readonly kind: 'intersection'
  readonly members: readonly Schema[]
}
/** A reference to a component schema of the same document. */
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
  /** As on the wire, for example `created[gte]`. */
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required: boolean
  readonly schema: Schema
  readonly example?: unknown
  readonly serialization: Serialization
}

/** How a parameter value is encoded, with defaults filled in. */
export interface Serialization {
  readonly style: string
  readonly explode: boolean
  readonly allowReserved: boolean
  readonly allowEmptyValue: boolean
  /** Media type, if the parameter uses `content`. */
  readonly mediaType?: string
}

export interface ApiContent {
  readonly mediaType: string
  readonly schema: Schema
  readonly examples: readonly unknown[]
  readonly place: SourceLocation
  /** Encoding Objects of form properties by name, as in the document. */
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

export interface ApiServer {
  readonly url: string
  readonly description?: string
  /** Values of variables that have an `enum`. A variable without one may have any value. */
  readonly variables: Readonly<Record<string, readonly string[]>>
  readonly place: SourceLocation
}

/** One alternative of a `security` list; a request must satisfy every scheme in it. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

export interface ApiOperation extends Described {
  readonly id: string
  /** As it is sent. OpenAPI 3.2 allows any method. */
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly summary?: string
  /** Path-level and operation-level parameters in document order. */
  readonly parameters: readonly ApiParameter[]
  readonly body?: ApiBody
  readonly responses: readonly Response[]
  readonly security: readonly SecurityRequirement[]
  /** Servers of the operation or its path, which replace those of the document. */
  readonly servers?: readonly ApiServer[]
  /** Requests that the service sends in return. Their names consist of operation, callback and method. */
  readonly callbacks: readonly ApiCallback[]
}

/** A webhook of the document, for example `book.lent`. */
export interface EventType extends Described {
  readonly name: string
  readonly tag: string
  readonly summary?: string
  readonly headers: readonly ApiParameter[]
  readonly payload?: ApiContent
  /** The request body; `payload` is its first content. */
  readonly body?: ApiBody
}

/** An event that is sent to a URL from an operation's request. */
export interface ApiCallback extends EventType {
  /** Target URL, as a runtime expression. */
  readonly url: string
}

export interface Tag {
  readonly name: string
  /** Title of the tag. */
  readonly summary?: string
  /** Name of the tag that this one is part of. */
  readonly parent?: string
  readonly extensions: Extensions
  readonly description?: string
}

/** One document: one version of the API. */
export interface Api extends Described {
  readonly version: string
  readonly file: string
  readonly title: string
  readonly info: Extensions
  readonly tags: readonly Tag[]
  /** Component schemas by name, in document order. */
  readonly schemas: ReadonlyMap<string, Schema>
  /** By pointer, schemas that the IR represents only partly, and everything that they refer to. */
  readonly rules: ReadonlyMap<string, JsonSchema>
  readonly operations: readonly ApiOperation[]
  readonly events: readonly EventType[]
  readonly servers: readonly ApiServer[]
  readonly securitySchemes: Readonly<Record<string, unknown>>
  /** Types of handlers and clients that are not JSON types. */
  readonly types?: TypeMapping
  /** The document as plain JSON, with streams as lists. */
  readonly document: Readonly<Record<string, unknown>>
  /** The document as it was written, for output that contains it unchanged. */
  readonly published: Readonly<Record<string, unknown>>
}

/** A generated file. The path is relative to the output folder. */
export interface OutputFile {
  readonly path: string
  readonly text: string
}
