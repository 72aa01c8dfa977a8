/**
 * The contract between generated code and the service that runs it: table rows, and the inputs and results of handlers.
 * Types only. Generated code imports this file as `dateline/runtime`.
 */

/** As it is sent. OpenAPI 3.2 allows any method. */
export type Method = string

/** Checks a value against a schema. Never coerces or changes the value, and never throws. */
export type Validate = (value: unknown) => boolean

/**
 * Translates a valid value of one version to another. Copies the parts that change and keeps references to the rest.
 * Generated functions have the types of both versions; `translateNoting` calls a function from a table.
 */
export type Translate = (value: never) => unknown

/** The type to which the text of a parameter or form field is converted. An `int64` that a number cannot hold is a bigint. */
export type ScalarType = 'string' | 'integer' | 'int64' | 'number' | 'boolean'

/** How to read and validate a parameter. */
export interface Parameter {
  /** The name on the wire: `limit`, `created[gte]`, `Idempotency-Key`. */
  readonly name: string
  readonly type: ScalarType
  /** Absent for a scalar of `type` in the default style of its location. */
  readonly encoding?: ParameterEncoding
  readonly required: boolean
  /** Whether it is an equality filter (`x-filter: equality`): handlers get a list of values, any of which may match. */
  readonly set: boolean
  readonly validate: Validate
  /** JSON pointer to its schema in the document, for `explain`. */
  readonly pointer: string
}

/**
 * How a parameter that is not a default scalar is serialized (OpenAPI 3.1, "Style Values"), and the types of its text.
 */
export interface ParameterEncoding {
  /** `json`: the value is JSON text. `none`: no style can represent the parameter, so every value is refused. */
  readonly style:
    | 'simple'
    | 'label'
    | 'matrix'
    | 'form'
    | 'spaceDelimited'
    | 'pipeDelimited'
    | 'deepObject'
    | 'json'
    | 'none'
  readonly explode?: boolean
  /** Types to try in order, if the parameter can be a scalar. */
  readonly scalar?: readonly ScalarType[]
  /** Types of the items, if the parameter can be a list. */
  readonly list?: readonly ScalarType[]
  /** Types of the members, if the parameter can be an object. `others` is for members that are not listed. */
  readonly object?: {
    readonly members: Readonly<Record<string, readonly ScalarType[]>>
    readonly others?: readonly ScalarType[]
  }
}

/** A check of a value against the schema at `pointer` in the version's document. */
export interface SchemaCheck {
  readonly validate: Validate
  readonly pointer: string
}

export interface Body extends SchemaCheck {
  readonly required: boolean
  /**
   * For a batch (`x-judged: each`). The outer `validate` checks only the envelope, and this one checks each item of the
   * named array. The handler gets `items` (one `CheckedItem` each) instead of `body`. `up` translates one valid item.
   */
  readonly each?: SchemaCheck & { readonly property: string; readonly up?: Translate }
}

/** A form as request body. For validation, each file is replaced by a string of the same length. */
export interface FormBody extends SchemaCheck {
  readonly media: 'multipart/form-data' | 'application/x-www-form-urlencoded'
  readonly required: boolean
  /** The fields that are not a single text value. */
  readonly fields: readonly FormFieldRow[]
  /** Translates the form to the canonical version. */
  readonly up?: Translate
}

/**
 * A request body that is neither JSON nor a form: text as a string, or bytes as a Blob. For validation, bytes are replaced by
 * a string of the same length.
 */
export interface RawBody extends SchemaCheck {
  /** Without parameters; can be a range, such as `image/*`. */
  readonly media: string
  readonly required: boolean
}

/** The body of an answer that is neither JSON nor a stream of items. */
export type BinaryBody = Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>

/** How to read a form field. */
export interface FormFieldRow {
  readonly name: string
  /** Types to try in order. `bytes` is a file, which handlers get as a Blob. */
  readonly as: readonly (ScalarType | 'json' | 'bytes')[]
  /** Set if the field can be repeated, so that its value is a list. */
  readonly list?: true
  /** Media types that a file can have, for example `image/*`. Absent: any type. */
  readonly types?: readonly string[]
  /** Style of a field in `application/x-www-form-urlencoded`, if the document specifies one. */
  readonly encoding?: ParameterEncoding
}

/** A form as handlers get it: the fields in `Names` are files. */
export type FormWithFiles<Form, Names extends string> = {
  [Name in keyof Form]: Name extends Names ? FormFile<Form[Name]> : Form[Name]
}

type FormFile<Value> = Value extends readonly unknown[] ? Blob[] : Value extends string ? Blob : Value

/** A stream, whose items are validated and translated one by one (`down`). */
export interface ItemStream {
  readonly media: string
  readonly validate: Validate
  /** How items are separated: server-sent events, lines of JSON, or records of JSON (RFC 7464). */
  readonly framing: 'events' | 'lines' | 'records'
}

/** A problem in a value. `field` is its location, such as `fields[0].key`; `issue` describes it. */
export interface Detail {
  readonly field: string
  readonly issue: string
}

/** A batch item after validation. */
export type CheckedItem<Item> =
  | { readonly valid: true; readonly value: Item }
  | { readonly valid: false; readonly details: readonly Detail[] }

/** A row of a version's operation table: everything that the pipeline needs before and after the handler. */
export interface Operation<Extensions = unknown> {
  /** The name in the canonical version. */
  readonly id: string
  readonly method: Method
  /** Path template: `/books/{book_id}`. */
  readonly path: string
  /** The success status. */
  readonly status: number
  /**
   * Set if a successful response is a stream. `true`: server-sent events whose items the document does not describe; the
   * handler's body then yields their text in chunks.
   */
  readonly stream?: true | ItemStream
  /** OAuth scopes that a token must have, all of them. If empty, any token is accepted. */
  readonly oauth: readonly string[]
  readonly extensions: Extensions
  readonly pathParameters: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  readonly body?: Body
  /** Its form bodies, one for each media type. */
  readonly forms?: readonly FormBody[]
  /** Its other bodies, one for each media type. */
  readonly raw?: readonly RawBody[]
  /**
   * Set if handlers get and return values that are not JSON values, such as Dates: functions that make them from the parts of a
   * request. A part without a function has none.
   */
  readonly typed?: TypedRequest
  /** Media type of a success body that is neither JSON nor a stream. Handlers return its text or bytes. */
  readonly media?: string
  /**
   * Translations of a request to the canonical version; absent if no change affects them. Header names are in lower
   * case.
   */
  readonly upPath?: Translate
  readonly upQuery?: Translate
  readonly upHeaders?: Translate
  readonly upBody?: Translate
  /** Translates all parts together, in place of the functions above, if a value moves from one part to another. */
  readonly upRequest?: (parts: RequestParts) => RequestParts
  /** Translates the success body to the caller's version. */
  readonly down?: Translate
  /**
   * Translations of other responses, including errors, by status, `4XX` or `default`; the most specific one applies. An
   * entry with the value undefined means no translation. `down` applies to a success status without an entry.
   */
  readonly downs?: Readonly<Record<string, Translate | undefined>>
  /** Translates a field path of the body, such as `spending_controls.blocked_categories[0]`, to the caller's names. */
  readonly downField?: (field: string) => string
  /** Parameter names that differ: from the canonical name to the caller's. */
  readonly parameterNames?: Readonly<Record<string, string>>
  /** Status codes that differ: from the canonical status to the caller's. */
  readonly downStatus?: Readonly<Record<number, number>>
}

/** The parts of a request that are translated. Header names are in lower case; a request without a body has none. */
export interface RequestParts {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** Functions that make the values of handlers from JSON values in the canonical version. */
export interface TypedRequest {
  readonly path?: Translate
  readonly query?: Translate
  readonly headers?: Translate
  readonly body?: Translate
  /** For an item of a batch. */
  readonly item?: Translate
  /** By media type. */
  readonly forms?: Readonly<Record<string, Translate>>
}

/** How a version represents events of one type. */
export interface EventView {
  /** The oldest version with this type. */
  readonly since: string
  /** The type's name in this version, if it differs from the canonical version. */
  readonly name?: string
  /** Header names, from the canonical version to this version. */
  readonly headers: Readonly<Record<string, string>>
  /** Translates the whole event to this version. Absent if nothing changes. */
  readonly down?: Translate
}

/** A version: its operations, and other facts from its document. */
export type Version<Extensions = unknown, Life = unknown, Names extends string = never> = Life & {
  readonly name: string
  readonly operations: readonly Operation<Extensions>[]
  /** Absent if no change of the family is about behavior. */
  readonly behaviour?: BehaviourRow<Names>
}

/** Behavior by name: true if the version has it, otherwise the change of a later version that introduces it. */
export type BehaviourRow<Names extends string> = Readonly<Record<Names, true | string>>

/** Behavior by name: whether the version has it. */
export type Behaviour<Names extends string> = Readonly<Record<Names, boolean>>

/** An example of a value or request before and after a change. */
export interface ChangeExample {
  /** The name of a component, or a description of the request. */
  readonly of: string
  readonly before: string
  readonly after: string
}

/** An entry of the changelog. */
export interface ChangeEntry {
  /** The name that translations record: `2026-05-19/block-categories`. */
  readonly name: string
  /** The version that introduced the change. */
  readonly version: string
  readonly title: string
  /** The reason for the change, in Markdown. */
  readonly why: string
  /** Operations and events that the change affects, by their names in that version. */
  readonly operations: readonly string[]
  readonly events: readonly string[]
  /** Whether it affects every delivery. */
  readonly everyEvent: boolean
  /** Names of behavior that the change introduces. */
  readonly behaviour?: readonly string[]
  /** A header that is optional before the change and required after it. */
  readonly requiredHeader?: string
  /** The former name of a delivery header. */
  readonly renamedHeader?: string
  readonly examples: readonly ChangeExample[]
}

/** The result of a handler. Handlers do not access the HTTP response. */
export interface Reply<Status extends number = number, Payload = unknown> {
  readonly status: Status
  readonly body: Payload
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/**
 * Turns the open enumerations of client types into closed ones: the server of a version can list all of their values.
 */
export type Closed<T> = T extends string
  ? Same<T, string & {}> extends true
    ? never
    : T
  : T extends readonly unknown[]
    ? ClosedList<T>
    : T extends { toJSON(): unknown }
      ? T
      : T extends object
        ? ClosedObject<T>
        : T

/** A nested object of the client. Editors show it as `ClosedObject<Holder>`. */
type ClosedObject<T> = { [Name in keyof T]: Closed<T[Name]> }

/** An object with a name, which editors show. Without the `Names` parameter they would list all members instead. */
export type ClosedMembers<T, Names extends keyof T = keyof T> = { [Name in Names]: Closed<T[Name]> }

/**
 * A list of lists can refer to itself. The compiler resolves members of an interface lazily but positions of a tuple
 * eagerly.
 */
type ClosedList<T extends readonly unknown[]> =
  Extract<T[number], readonly unknown[]> extends never
    ? { [Name in keyof T]: Closed<T[Name]> }
    : number extends T['length']
      ? ListOfLists<T[number]>
      : T

interface ListOfLists<Item> extends Array<Closed<Item>> {}

/** A query whose equality filters are lists: any of the values may match. */
export type Lists<Query, Filters extends string, Names extends keyof Query = keyof Query> = {
  [Name in Names]: Name extends Filters ? readonly NonNullable<Query[Name]>[] : Query[Name]
}

/** A batch whose own rules hold, with items that have not been checked. */
export type Envelope<Batch, Items extends string> = {
  [Name in keyof Batch]: Name extends Items ? readonly unknown[] : Batch[Name]
}
