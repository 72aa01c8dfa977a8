/** From an operation's types, as openapi-typescript writes them, to what its method takes and gives. */
import type { Call, ListCall } from './call.ts'

/** How to make one call differently from the client's settings. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** For one attempt, from its start to the last byte of its body. */
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /** Further headers, in place of the client's own of the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * The members of an open enumeration that this version lists. A table of them is complete, and no longer compiles when
 * another version spells one differently.
 */
export type Known<Value extends string> = Value extends string
  ? string extends Value
    ? never
    : Value
  : never

export interface KeyOption {
  /** A UUID of your own, to repeat a call of an earlier process. One is made for each call otherwise. */
  readonly idempotencyKey?: string | undefined
}

/**
 * The argument of a method: `path`, `query`, `header`, `cookie` and `body` as the operation has them, and options.
 * `Managed` names the header parameters that the client sends by itself.
 */
export type Input<Operation, Managed extends string = never> = Part<'path', Parameters<Operation, 'path'>> &
  Part<'query', Parameters<Operation, 'query'>> &
  Part<'header', Without<Parameters<Operation, 'header'>, Managed>> &
  Part<'cookie', Parameters<Operation, 'cookie'>> &
  BodyPart<Operation> &
  CallOptions

/** What a method gives: the body of success; undefined where there is none; a stream where it is not JSON. */
export type Output<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends Success ? Payload<Responses[Status]> : never
    }[keyof Responses]
  : never

export type Result<Operation> = Call<Output<Operation>>

/** `Items` names the member of a page that holds its records. */
export type ListResult<Operation, Items extends string> = ListCall<
  Output<Operation>,
  ItemOf<Output<Operation>, Items>
>

type ItemOf<Page, Items extends string> = Page extends { [Name in Items]: readonly (infer Item)[] }
  ? Item
  : unknown

/** `Omit` would make something of nothing. */
type Without<Members, Names extends string> = [Members] extends [never] ? never : Omit<Members, Names>

type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206 | '2XX'

type Parameters<Operation, Where extends string> = Operation extends { parameters: infer Places }
  ? Where extends keyof Places
    ? Exclude<Places[Where], undefined>
    : never
  : never

/** `{ query: … }`, optional when nothing in it is required, absent when there is nothing in it. */
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

/** Of several media types, the one that the client sends, as `emit/client/bodies.ts` chooses it. */
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

/** Documents describe files as strings. */
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
