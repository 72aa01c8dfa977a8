/**
 * Inline objects as targets of lenses: in a request body, a response, an event, or inside a component. Their
 * locations are written as `dateline diff` prints them.
 */

import type { In } from './version-types.ts'

declare const sides: unique symbol

/** The location of an inline object, typed with its shape in both versions. */
export type Inline<Old, New> = string & { readonly [sides]: readonly [Old, New] }

/** Property names; `[]` for list items, `{}` for map values, `|0` for a member of a union. */
export type PropertyPath = readonly string[]

type ValueOf<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never

type StepInto<T, Name> = Name extends '[]'
  ? T extends readonly (infer Item)[]
    ? Item
    : never
  : Name extends '{}'
    ? T extends Readonly<Record<string, infer Value>>
      ? Value
      : never
    : Name extends `|${number}`
      ? T
      : ValueOf<T, Name>

/** The type at a path. */
export type Inside<T, Names extends PropertyPath> = Names extends readonly [
  infer Name,
  ...infer Rest extends PropertyPath,
]
  ? Inside<StepInto<NonNullable<T>, Name>, Rest>
  : NonNullable<T>

type JsonOf<Content> = Content extends { content: infer Types }
  ? ValueOf<Types, Extract<keyof Types, `${string}json${string}` | `text/event-stream${string}`>>
  : never

export type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never
/** The JSON type of a response, or a list of the items of a stream. */
export type AnswerOf<Operation, Status> = JsonOf<ValueOf<ResponsesOf<Operation>, Status>>
type FormOf<Content> = Content extends { content: infer Types }
  ? ValueOf<
      Types,
      Extract<keyof Types, `multipart/form-data${string}` | `application/x-www-form-urlencoded${string}`>
    >
  : never

/** The type of a request body: JSON, or a form. */
export type BodyOf<Operation> = Operation extends { requestBody?: infer Body }
  ? JsonOf<NonNullable<Body>> | FormOf<NonNullable<Body>>
  : never

/** The parameters in one part of a request, or its body. */
export type PartOf<Operation, Where> = Where extends 'body' ? BodyOf<Operation> : In<Operation, Where>

/** Returns the path segment for a property; quotes names with characters that a plain segment cannot hold. */
export function propertyStep(name: string): string {
  return /^[\p{L}\p{N}_$-]+$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}

/**
 * Returns the location of a path below a root.
 *
 * @param root `getBook 200`, `createBook body`, `event book.lent`, or a component name.
 */
export function placeIn<Old, New>(root: string, path: PropertyPath): Inline<Old, New> {
  const steps = path.map((name) => (/^(\[\]|\{\}|\|\d+)$/.test(name) ? name : propertyStep(name)))
  return (root + steps.join('')) as Inline<Old, New>
}
