/** Type-level access to a version's generated types: properties, paths, parameters and enumeration members. */
import type { Loss } from './lens.ts'

/** The part of a version's generated types that changes use. */
export interface VersionTypes {
  readonly schemas: object
  readonly operations: object
}

/** Keys of every member of a union type. */
export type KeyOfEach<T> = T extends unknown ? keyof T & string : never
export type ValueOfEach<T, Name> = T extends unknown
  ? Name extends keyof T
    ? Exclude<T[Name], undefined>
    : never
  : never

/** Names of properties that are lists. */
export type ListsOf<T> = T extends unknown
  ? { [Name in keyof T & string]-?: NonNullable<T[Name]> extends readonly unknown[] ? Name : never }[keyof T &
      string]
  : never

/** The type at a path of property names; `never` if the path does not exist. */
export type At<T, Path> = Path extends readonly [infer First, ...infer Rest]
  ? First extends KeyOfEach<NonNullable<T>>
    ? At<ValueOfEach<NonNullable<T>, First>, Rest>
    : never
  : T
/** The path if it exists in `T`, else `never`. */
export type Leading<T, Path extends readonly string[]> = [At<T, Path>] extends [never] ? never : Path

export type Part = 'path' | 'query' | 'header'
/** The parameters of an operation in one part of the request. */
export type In<Operation, Where> = Operation extends { parameters: infer Parameters }
  ? Where extends keyof Parameters
    ? NonNullable<Parameters[Where]>
    : never
  : never
export type StatusOf<Operation> = Operation extends { responses: infer Responses } ? keyof Responses : never
/**
 * Names of all headers that operations accept. openapi-typescript lists events as operations, so these are
 * included.
 */
export type HeaderOf<Operations> = KeyOfEach<
  Operations[keyof Operations] extends infer Operation
    ? Operation extends { parameters: { header?: infer Header } }
      ? NonNullable<Header>
      : never
    : never
>

/** Renames of removed members. Must name each removed member, and no member that still exists. */
export type Renames<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<OldMember, NewMember>]: Exclude<NewMember, OldMember>
}
export type Merges<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<NewMember, OldMember>]?: OldMember
}

/** Conversion in both directions. If a direction is not reversible, `loss` describes how. */
export interface Turns<OldValue, NewValue> {
  readonly up: (value: OldValue) => NewValue
  readonly down: (value: NewValue) => OldValue
  readonly loss?: Loss
}

/** The members of an enumeration component, or of an enumeration property of a component. */
export type MembersOf<Schemas, Name extends keyof Schemas, Property> = Extract<
  [Property] extends [string] ? NonNullable<ValueOfEach<Schemas[Name], Property>> : Schemas[Name],
  string
>

export type Mapping<OldMember extends string, NewMember extends string> =
  | { readonly rename: Renames<OldMember, NewMember>; readonly merge?: never; readonly loss?: never }
  | {
      readonly rename?: Renames<OldMember, NewMember>
      readonly merge: Merges<OldMember, NewMember>
      readonly loss: 'merge'
    }
