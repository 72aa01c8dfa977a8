/** How the generated part describes a service to the runtime. */
import type { PageWire } from './call.ts'
import type { ErrorClasses } from './errors.ts'

/** What the service calls things on the wire. */
export interface Wire {
  /** Carries the version of the subpath. */
  readonly versionHeader?: string
  readonly idempotencyHeader: string
  readonly requestIdHeader: string
  /** The member of an event that names the version which it is written in. */
  readonly eventVersion: string
  readonly page: PageWire
  /** The member of an error body that holds the error, and its member for a wait in milliseconds. */
  readonly error: { readonly envelope: string; readonly retryAfterMs: string }
}

export type NamedValues = Readonly<Record<string, unknown>>

/** The parameters of a call, by place. */
export interface ParameterValues {
  readonly path?: NamedValues | undefined
  readonly query?: NamedValues | undefined
  readonly header?: NamedValues | undefined
  readonly cookie?: NamedValues | undefined
}

/** The parameters of a call as they are sent. */
export interface WrittenParameters {
  /** The operation's path, in which the parameters that have rows are filled in. */
  readonly path: string
  readonly header: NamedValues
  /** Value of the Cookie header; empty without cookies. */
  readonly cookie: string
  readonly querySerializer: (query: NamedValues) => string
}

/** What a request of an operation needs beyond its input. */
export interface OperationRow {
  readonly method: string
  readonly path: string
  /** It takes an idempotency key: one is made for each call and kept over its retries. */
  readonly keyed?: boolean
  /** Its answer is not JSON: the body is given as a stream. */
  readonly streamed?: boolean
  /** Media type of its body, if that is not application/json. */
  readonly media?: string
  /** Writes a body that is not JSON. */
  readonly encode?: (body: unknown, operation: OperationRow) => EncodedBody
  /** Parts of a form that are not written as their values usually are, by name. */
  readonly parts?: Readonly<Record<string, PartRow>>
  /** The parameters that `write` is for: openapi-fetch writes scalars, and lists in queries, without it. */
  readonly parameters?: readonly ParameterRow[]
  readonly write?: (operation: OperationRow, values: ParameterValues) => WrittenParameters
  /** Which credentials it asks for, if not those of most operations. */
  readonly security?: Alternatives
}

/** How a parameter is written (OpenAPI 3.1, "Style Values"). */
export interface ParameterRow {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly style: ParameterStyle
  readonly explode?: boolean
  /** `allowReserved`. */
  readonly reserved?: boolean
  /** Its value is written as JSON. */
  readonly json?: boolean
}

/** `none`: a call that has such a value fails, since no style can write it. */
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  | 'none'

/** One part of a form (Encoding Object). */
export interface PartRow {
  /** Media type. */
  readonly type?: string
  /** Its value is written as JSON, a list as a whole. */
  readonly json?: boolean
  readonly style?: ParameterStyle
  readonly explode?: boolean
  readonly reserved?: boolean
}

/** A body that is not JSON, and the media type that it is sent with. */
export interface EncodedBody {
  readonly body: string | Blob | ArrayBuffer | Uint8Array
  readonly type: string
}

/** Names of schemes: a request needs all those of one alternative; an empty one asks for nothing. */
export type Alternatives = readonly (readonly string[])[]

/** Where a credential goes. */
export interface SecurityScheme {
  readonly in: 'header' | 'query' | 'cookie'
  readonly name: string
  /** What stands before it. */
  readonly prefix?: string
  /** It is a user of HTTP Basic. */
  readonly basic?: boolean
}

/** One version of a service. */
export interface Service {
  readonly version: string
  readonly wire: Wire
  /** How callers identify themselves, by name. */
  readonly schemes?: Readonly<Record<string, SecurityScheme>>
  /** Which credentials most operations ask for. */
  readonly security?: Alternatives
  readonly errors: ErrorClasses
}
