/**
 * What generated code and the service that runs it agree on: the rows of its tables, and what handlers take and answer.
 * Types only. Generated code imports this as `dateline/runtime`; a service reads the tables through these shapes.
 */

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'OPTIONS' | 'HEAD' | 'PATCH' | 'TRACE'

/** Checks one value against a schema. Never coerces, never changes the value, never throws. */
export type Validate = (value: unknown) => boolean

/**
 * Rewrites a valid value of one version into another: a copy of what changes, which holds the rest as it is. Generated functions have the
 * types of both versions. A table of many of them is called through `translateNoting`.
 */
export type Translate = (value: never) => unknown

/** What the text of a parameter or of a form field is converted to. */
export type ScalarType = 'string' | 'integer' | 'number' | 'boolean'

/** How a parameter is spelt on the wire, checked and handed to the handler. */
export interface Parameter {
  /** As on the wire: `limit`, `created[gte]`, `Idempotency-Key`. */
  readonly name: string
  readonly type: ScalarType
  /** Absent if the parameter is one scalar of `type` in the usual style of its place. */
  readonly encoding?: ParameterEncoding
  readonly required: boolean
  /** An equality filter: the canonical version receives a list of values, any of which may match (`x-filter: equality`). */
  readonly set: boolean
  readonly validate: Validate
  /** Where its schema stands in the document, as a JSON pointer: `explain` reads it after a refusal. */
  readonly pointer: string
}

/** How a parameter that is not one plain scalar is written (OpenAPI 3.1, "Style Values"), and what its text may be. */
export interface ParameterEncoding {
  /** `json`: one JSON text. `none`: no style can write the parameter, so every value is refused. */
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
  /** Types to try in turn if it may be a scalar. */
  readonly scalar?: readonly ScalarType[]
  /** The same for the items if it may be a list. */
  readonly list?: readonly ScalarType[]
  /** The same for the members if it may be an object; `others` are members that are not listed. */
  readonly object?: {
    readonly members: Readonly<Record<string, readonly ScalarType[]>>
    readonly others?: readonly ScalarType[]
  }
}

/** A value that must fit the schema at `pointer` of the version's document. */
export interface SchemaCheck {
  readonly validate: Validate
  readonly pointer: string
}

export interface Body extends SchemaCheck {
  readonly required: boolean
  /**
   * A batch (`x-judged: each`): `validate` checks the envelope alone, this checks each item of the named array,
   * and the handler gets `items`, one `CheckedItem` each, instead of `body`. `up` translates one valid item.
   */
  readonly each?: SchemaCheck & { readonly property: string; readonly up?: Translate }
}

/** A request body that is a form. Its check sees text of the same length where a file is. */
export interface FormBody extends SchemaCheck {
  readonly media: 'multipart/form-data' | 'application/x-www-form-urlencoded'
  readonly required: boolean
  /** The fields that are not one text each. */
  readonly fields: readonly FormFieldRow[]
}

/** How a field of a form is read. */
export interface FormFieldRow {
  readonly name: string
  /** What its text is tried as, in turn. `bytes` is a file, which handlers get as a Blob. */
  readonly as: readonly (ScalarType | 'json' | 'bytes')[]
  /** It may be repeated: its value is a list. */
  readonly list?: true
  /** Media types that a file may have, `image/*` for example. Absent: any. */
  readonly types?: readonly string[]
  /** Style of a field of `application/x-www-form-urlencoded`, if the document names one. */
  readonly encoding?: ParameterEncoding
}

/** A form as handlers get it: its named fields are files. */
export type FormWithFiles<Form, Names extends string> = {
  [Name in keyof Form]: Name extends Names ? FormFile<Form[Name]> : Form[Name]
}

type FormFile<Value> = Value extends readonly unknown[] ? Blob[] : Value extends string ? Blob : Value

/** One fault of a value: where, as `fields[0].key`, and what, as prose. */
export interface Detail {
  readonly field: string
  readonly issue: string
}

/** An item of a batch after its own verdict: valid, or refused with its faults. */
export type CheckedItem<Item> =
  | { readonly valid: true; readonly value: Item }
  | { readonly valid: false; readonly details: readonly Detail[] }

/** One row of a version's table: everything the pipeline needs to know before and after the handler. */
export interface Operation<Extensions = unknown> {
  /** As the canonical version names it. */
  readonly id: string
  readonly method: Method
  /** With parameters in braces: `/books/{book_id}`. */
  readonly path: string
  /** Status of success. */
  readonly status: number
  /** Success is a stream of server-sent events: the handler's body gives their text piece by piece. */
  readonly stream?: true
  /** OAuth scopes of which a token needs all; empty when any token will do. */
  readonly oauth: readonly string[]
  /** Its `x-` members. */
  readonly extensions: Extensions
  readonly pathParameters: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  /** Its body as JSON. */
  readonly body?: Body
  /** Its body as a form, by media type. */
  readonly forms?: readonly FormBody[]
  /** From the caller's version to the canonical version; absent where nothing on the way touches it. Headers by name in small letters. */
  readonly upPath?: Translate
  readonly upQuery?: Translate
  readonly upHeaders?: Translate
  readonly upBody?: Translate
  /** From the canonical version to the caller's: the body of success. */
  readonly down?: Translate
  /**
   * The same of other answers, errors among them: by status, `4XX` or `default`, the narrowest that there is. Nothing
   * changes an answer whose own entry is undefined; a success without one is as `down` has it.
   */
  readonly downs?: Readonly<Record<string, Translate | undefined>>
  /** A field of the body as handlers name it, `spending_controls.blocked_categories[0]`, under the caller's name. */
  readonly downField?: (field: string) => string
  /** Names of parameters as the canonical version has them → as the caller's version has them, where they differ. */
  readonly parameterNames?: Readonly<Record<string, string>>
  /** Statuses that the canonical version answers with → what the caller's version answers with, where they differ. */
  readonly downStatus?: Readonly<Record<number, number>>
}

/** How a version shows events of one type. */
export interface EventView {
  /** The oldest version that has them. */
  readonly since: string
  /** Header of the canonical version → its name here. */
  readonly headers: Readonly<Record<string, string>>
  /** From the canonical version to this one: the whole event. Absent where nothing changes. */
  readonly down?: Translate
}

/** One version: its operations, and what its document says of it beside that. */
export type Version<Extensions = unknown, Life = unknown> = Life & {
  readonly name: string
  readonly operations: readonly Operation<Extensions>[]
}

/** A value or a request in the version before, and in the version that changed it. */
export interface ChangeExample {
  /** A component, or what the request does. */
  readonly of: string
  readonly before: string
  readonly after: string
}

/** What a version changed. */
export interface ChangeEntry {
  /** As translations note it: `2026-05-19/block-categories`. */
  readonly name: string
  /** That brought it. */
  readonly version: string
  readonly title: string
  /** Markdown. */
  readonly why: string
  /** What it shows in, by the names of that version. */
  readonly operations: readonly string[]
  readonly events: readonly string[]
  /** Whether it shows in every delivery. */
  readonly everyEvent: boolean
  /** A header that requests may leave out before it. */
  readonly requiredHeader?: string
  /** A header of deliveries, as it is called before it. */
  readonly renamedHeader?: string
  readonly examples: readonly ChangeExample[]
}

/** What a handler answers; it never touches the response. */
export interface Reply<Status extends number = number, Payload = unknown> {
  readonly status: Status
  readonly body: Payload
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Types of the client with their open enumerations closed: whoever serves a version knows all that it has. */
export type Closed<T> = T extends string
  ? Same<T, string & {}> extends true
    ? never
    : T
  : T extends readonly unknown[]
    ? ClosedList<T>
    : T extends object
      ? ClosedObject<T>
      : T

/** An object of the client within another: editors show `ClosedObject<Holder>`. */
type ClosedObject<T> = { [Name in keyof T]: Closed<T[Name]> }

/** An object that gets a name of its own, which editors show. For a mapping of `keyof T` they would show all its members. */
export type ClosedMembers<T, Names extends keyof T = keyof T> = { [Name in Names]: Closed<T[Name]> }

/** A list of lists may be one of itself: the compiler looks at members of an interface when it needs them, at positions at once. */
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
