/**
 * Objects that are written out where they stand, as places that lenses can be put on: in a body or an answer of an
 * operation, in an event, inside a component. A place is named as `dateline diff` prints it.
 */

declare const sides: unique symbol

/** Such an object, with what it is in either version. */
export type Inline<Old, New> = string & { readonly [sides]: readonly [Old, New] }

/** Names of properties; `[]` for the items of a list, `{}` for the values of a map, `|0` for a member of a union. */
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

/** What stands at a path. */
export type Inside<T, Names extends PropertyPath> = Names extends readonly [
  infer Name,
  ...infer Rest extends PropertyPath,
]
  ? Inside<StepInto<NonNullable<T>, Name>, Rest>
  : NonNullable<T>

type JsonOf<Content> = Content extends { content: infer Types }
  ? ValueOf<Types, Extract<keyof Types, `${string}json${string}`>>
  : never

/** Responses of an operation, by status. */
export type ResponsesOf<Operation> = Operation extends { responses: infer Responses } ? Responses : never
/** The JSON of an answer. */
export type AnswerOf<Operation, Status> = JsonOf<ValueOf<ResponsesOf<Operation>, Status>>
/** The JSON of a body. */
export type BodyOf<Operation> = Operation extends { requestBody?: infer Body }
  ? JsonOf<NonNullable<Body>>
  : never

/** The step into a property; a name that a path could not hold is quoted. */
export function propertyStep(name: string): string {
  return /^[\p{L}\p{N}_$-]+$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}

/** @param root `getBook 200`, `createBook body`, `event book.lent`, or a component. */
export function placeIn<Old, New>(root: string, path: PropertyPath): Inline<Old, New> {
  const steps = path.map((name) => (/^(\[\]|\{\}|\|\d+)$/.test(name) ? name : propertyStep(name)))
  return (root + steps.join('')) as Inline<Old, New>
}
