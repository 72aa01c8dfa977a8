/** What a version's generated types hold, as types: properties, paths, parameters, members. Lenses are typed by them. */
import type { Loss } from './lens.ts'

/** A version's generated types, as far as changes name them. */
export interface VersionTypes {
  readonly schemas: object
  readonly operations: object
}

/** Keys of a union's members, of each of them. */
export type KeyOfEach<T> = T extends unknown ? keyof T & string : never
export type ValueOfEach<T, Name> = T extends unknown
  ? Name extends keyof T
    ? Exclude<T[Name], undefined>
    : never
  : never

/** What stands at a path of property names; `never` where there is no such path. */
export type At<T, Path> = Path extends readonly [infer First, ...infer Rest]
  ? First extends KeyOfEach<NonNullable<T>>
    ? At<ValueOfEach<NonNullable<T>, First>, Rest>
    : never
  : T
/** A path that leads somewhere. */
export type Leading<T, Path extends readonly string[]> = [At<T, Path>] extends [never] ? never : Path

export type Part = 'path' | 'query' | 'header'
/** Parameters in one part of an operation's requests. */
export type In<Operation, Where> = Operation extends { parameters: infer Parameters }
  ? Where extends keyof Parameters
    ? NonNullable<Parameters[Where]>
    : never
  : never
export type StatusOf<Operation> = Operation extends { responses: infer Responses } ? keyof Responses : never
/** Names of the headers that any operation takes; openapi-typescript lists events as operations too. */
export type HeaderOf<Operations> = KeyOfEach<
  Operations[keyof Operations] extends infer Operation
    ? Operation extends { parameters: { header?: infer Header } }
      ? NonNullable<Header>
      : never
    : never
>

/** Renames cover exactly what is gone: leaving a member out, or naming one that is still there, does not compile. */
export type Renames<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<OldMember, NewMember>]: Exclude<NewMember, OldMember>
}
export type Merges<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<NewMember, OldMember>]?: OldMember
}

/** Both ways between two values. Where one does not come back, `loss` says what happens. */
export interface Turns<OldValue, NewValue> {
  readonly up: (value: OldValue) => NewValue
  readonly down: (value: NewValue) => OldValue
  readonly loss?: Loss
}

/** The members of a component that is an enumeration, or of a property of one. */
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
