/** The types with which generated code describes a service to the runtime. */
import type { PageWire } from './call.ts'
import type { ErrorClasses } from './errors.ts'

/** Names on the wire. */
export interface Wire {
  /** Header for the version. */
  readonly versionHeader?: string
  /** Header that makes a repeated request safe. */
  readonly idempotencyHeader: string
  /** Response header with the id of the request. */
  readonly requestIdHeader: string
  /** The member of an event that names its version. */
  readonly eventVersion: string
  /** Members of a page, and parameters that select one. */
  readonly page: PageWire
  /**
   * The member of an error body that contains the error, and the member of the error with the retry delay in
   * milliseconds.
   */
  readonly error: { readonly envelope: string; readonly retryAfterMs: string }
}

export type NamedValues = Readonly<Record<string, unknown>>

/** Parameters of a call, by location. */
export interface ParameterValues {
  readonly path?: NamedValues | undefined
  readonly query?: NamedValues | undefined
  readonly header?: NamedValues | undefined
  readonly cookie?: NamedValues | undefined
}

/** Serialized parameters of a call. */
export interface WrittenParameters {
  /** The operation's path, with the parameters that have rows filled in. */
  readonly path: string
  readonly header: NamedValues
  /** Value of the Cookie header; empty if there are no cookies. */
  readonly cookie: string
  readonly querySerializer: (query: NamedValues) => string
}

/** Reads and writes values that are not JSON values. */
export interface ValueCodec {
  readonly parse: (text: string) => unknown
  readonly stringify: (value: unknown) => string
  /** Returns the JSON value of a value. */
  readonly encode: (value: unknown) => unknown
  /** Makes the caller's value from the JSON value of an answer, or of an item of a stream. */
  readonly decode?: (value: unknown) => unknown
}

/** Static description of an operation. */
export interface OperationRow {
  readonly method: string
  readonly path: string
  /** Whether the operation takes an idempotency key. The client creates one for each call and reuses it for retries. */
  readonly keyed?: boolean
  /** Whether the response is not JSON, so that the body is returned as a stream. */
  readonly streamed?: boolean
  /** Set if callers get and supply values that are not JSON values, such as Dates. */
  readonly values?: ValueCodec
  /** Media type of the response, if it is a stream of items. */
  readonly accept?: string
  /** The server-sent events whose `data` is JSON, by name; `true`: all. */
  readonly json?: true | readonly string[]
  /** Reads the items of a stream. */
  readonly read?: (
    body: ReadableStream<Uint8Array> | null | undefined,
    operation: OperationRow,
    signal: AbortSignal | undefined,
  ) => AsyncIterable<unknown>
  /** Media type of the request body; application/json if absent. */
  readonly media?: string
  /** Encodes a body that is not JSON. */
  readonly encode?: (body: unknown, operation: OperationRow) => EncodedBody
  /** Form parts that are not encoded in the default way, by name. */
  readonly parts?: Readonly<Record<string, PartRow>>
  /** Parameters that need `write`. openapi-fetch serializes all others: scalars, and lists in queries. */
  readonly parameters?: readonly ParameterRow[]
  readonly write?: (operation: OperationRow, values: ParameterValues) => WrittenParameters
  /** Required credentials, if they differ from the default of the service. */
  readonly security?: Alternatives
}

/** Serialization of a parameter (OpenAPI 3.1, "Style Values"). */
export interface ParameterRow {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly style: ParameterStyle
  readonly explode?: boolean
  /** The value of `allowReserved`. */
  readonly reserved?: boolean
  /** Whether the value is serialized as JSON. */
  readonly json?: boolean
}

/** `none`: the value cannot be serialized, so a call with it fails. */
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  | 'none'

/** A form part (Encoding Object). */
export interface PartRow {
  readonly type?: string
  /** Whether the value is serialized as JSON. A list is then one value. */
  readonly json?: boolean
  readonly style?: ParameterStyle
  readonly explode?: boolean
  readonly reserved?: boolean
}

export interface EncodedBody {
  readonly body: string | Blob | ArrayBuffer | Uint8Array
  readonly type: string
}

/**
 * Alternative sets of security schemes. A request must satisfy all schemes of one alternative; an empty one needs no
 * credentials.
 */
export type Alternatives = readonly (readonly string[])[]

/** The location of a credential in a request. */
export interface SecurityScheme {
  readonly in: 'header' | 'query' | 'cookie'
  readonly name: string
  /** Prefix of the credential, such as `Bearer `. */
  readonly prefix?: string
  /** Whether it is HTTP Basic. */
  readonly basic?: boolean
}

export interface Service {
  readonly version: string
  readonly wire: Wire
  readonly schemes?: Readonly<Record<string, SecurityScheme>>
  /** Default credentials of operations. */
  readonly security?: Alternatives
  readonly errors: ErrorClasses
}
