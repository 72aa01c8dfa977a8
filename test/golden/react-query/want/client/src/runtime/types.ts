/**
 * Derives the argument and result types of a method from the types that openapi-typescript generates for its operation.
 */
import type { Call, ListCall, StreamCall } from './call.ts'

/** Options of one call, which override the client's settings. */
export interface RequestOptions extends KeyOption {
  /** Cancels the call and its pauses between retries. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of one attempt in milliseconds, until the last byte of the body. */
  readonly timeout?: number | undefined
  readonly maxRetries?: number | undefined
  /** Additional headers; they override the client's headers of the same name. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  /** Sends a different version. The types stay those of the client's version. */
  readonly version?: string | undefined
}

/** Options of the methods that take one object. */
export interface CallOptions extends Omit<RequestOptions, keyof KeyOption | 'headers'> {
  /** Additional headers; they override the client's headers of the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** @deprecated Use `timeout`. */
  readonly timeoutMs?: number | undefined
}

/**
 * The values of an open enumeration that this version lists. If you use it as the key type of a table, the table must
 * be complete, and the compiler reports values that a different version spells differently.
 */
export type Known<Value extends string> = Value extends string
  ? string extends Value
    ? never
    : Value
  : never

export interface KeyOption {
  /** Your own UUID, to repeat a call of an earlier process. If absent, the client creates one for each call. */
  readonly idempotencyKey?: string | undefined
}

/**
 * The argument of a method: the operation's `path`, `query`, `header`, `cookie` and `body`, and call options. `Managed`
 * names the header parameters that the client sends automatically.
 */
export type Input<Operation, Managed extends string = never> = Part<'path', Parameters<Operation, 'path'>> &
  Part<'query', Parameters<Operation, 'query'>> &
  Part<'header', Without<Parameters<Operation, 'header'>, Managed>> &
  Part<'cookie', Parameters<Operation, 'cookie'>> &
  BodyPart<Operation> &
  CallOptions

/** The query of an operation. */
export type QueryOf<Operation> = Parameters<Operation, 'query'>

/** The header parameters of an operation that callers set. */
export type HeadersOf<Operation, Managed extends string> = Without<Parameters<Operation, 'header'>, Managed>

/** The cookies of an operation. */
export type CookieOf<Operation> = Parameters<Operation, 'cookie'>

/** The body of an operation, in the media type that the client sends. */
export type RequestBodyOf<Operation> =
  BodyPart<Operation> extends { readonly body?: infer Body } ? Body : never

/**
 * The result of a method: the body of the success response, undefined if it has none, or a stream if it is not JSON.
 */
export type Output<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends Success ? Payload<Responses[Status]> : never
    }[keyof Responses]
  : never

export type Result<Operation> = Call<Output<Operation>>

/** The result of a list method. `Items` names the member of a page that contains its records. */
export type ListResult<Operation, Items extends string> = ListCall<
  Output<Operation>,
  ItemOf<Output<Operation>, Items>
>

/** A page whose records have a more exact type than the page's schema says. */
export type PageOf<Page, Items extends string, Item> = Omit<Page, Items> & { [Name in Items]: Item[] }

type ItemOf<Page, Items extends string> = Page extends { [Name in Items]: readonly (infer Item)[] }
  ? Item
  : unknown

/** The result of a method whose response is a stream. API descriptions declare the stream as a list of its items. */
export type StreamResult<Operation> = StreamCall<Item<Operation>>

type Item<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends Success ? ItemIn<Responses[Status]> : never
    }[keyof Responses]
  : never

type ItemIn<Response> = Response extends { content: infer Contents }
  ? Extract<Contents[keyof Contents], readonly unknown[]>[number]
  : never

/** Keeps `never`, which `Omit` would turn into an object type. */
type Without<Members, Names extends string> = [Members] extends [never] ? never : Omit<Members, Names>

type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206 | '2XX'

type Parameters<Operation, Where extends string> = Operation extends { parameters: infer Places }
  ? Where extends keyof Places
    ? Exclude<Places[Where], undefined>
    : never
  : never

/** An object such as `{ query: … }`. It is optional if it has no required members, and absent if it has no members. */
type Part<Name extends string, Members> = [Members] extends [never]
  ? unknown
  : [keyof Members] extends [never]
    ? unknown
    : Partial<Members> extends Members
      ? { readonly [K in Name]?: Members }
      : { readonly [K in Name]: Members }

type BodyPart<Operation> = Operation extends { requestBody: { content: infer Contents } }
  ? { readonly body: Preferred<Contents> }
  : Operation extends { requestBody?: infer Body }
    ? Exclude<Body, undefined> extends { content: infer Contents }
      ? [Exclude<Body, undefined>] extends [never]
        ? unknown
        : { readonly body?: Preferred<Contents> }
      : unknown
    : unknown

/** The body in the media type that the client sends, chosen in the same order as in `emit/client/bodies.ts`. */
type Preferred<Contents> = Written<
  Contents,
  Chosen<Contents, ['application/json', JsonMedia, '*/*' | 'application/*', Multipart, Form, keyof Contents]>
>

type Chosen<Contents, Media extends readonly unknown[]> = Media extends readonly [infer First, ...infer Rest]
  ? [Extract<keyof Contents, First>] extends [never]
    ? Chosen<Contents, Rest>
    : Extract<keyof Contents, First>
  : never

type Written<Contents, Media extends keyof Contents> = Media extends
  | JsonMedia
  | '*/*'
  | 'application/*'
  | Form
  ? Contents[Media]
  : Media extends Multipart
    ? { [Name in keyof Contents[Media]]: File<Contents[Media][Name]> }
    : string | Bytes

/** API descriptions declare files as strings; callers can also pass bytes. */
type File<Value> = string extends Value
  ? Value | Bytes
  : Value extends readonly (infer Item)[]
    ? readonly File<Item>[]
    : Value

type Bytes = Blob | ArrayBuffer | Uint8Array

type Payload<Response> = Response extends { content: infer Contents }
  ? [Json<Contents>] extends [never]
    ? ReadableStream<Uint8Array>
    : Contents[Json<Contents>]
  : undefined

type Json<Contents> = Extract<keyof Contents, JsonMedia>

type JsonMedia = `${string}/json${Suffix}` | `${string}+json${Suffix}`
type Multipart = `multipart/form-data${Suffix}`
type Form = `application/x-www-form-urlencoded${Suffix}`
type Suffix = '' | `;${string}`
