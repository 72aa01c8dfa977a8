/**
 * A change between two adjacent versions, as lenses: one declaration from which the toolkit derives both
 * directions, the differences it accounts for, and the changelog entry.
 *
 * Directions: *up* is old to new (requests), *down* new to old (answers and events). A lens that is declared on a
 * component holds wherever the component occurs: nested, in lists, in maps, in unions, in events, in batches.
 */

import {
  type AnswerOf,
  type BodyOf,
  type Inline,
  type Inside,
  type Path,
  placeIn,
  type ResponsesOf,
} from './inline.ts'

/** What happens where a direction cannot keep everything apart. */
export type Loss =
  /** Several values become one that the reader knows. */
  | 'merge'
  /** Something is left out. */
  | 'drop'

/** Turns a value of one version into another's. Plain functions of their argument: no clock, no state, never throwing. */
// biome-ignore lint/suspicious/noExplicitAny: `between` gives the precise types where a change is written
export type Turn = (value: any) => any

interface OnSchemas {
  /**
   * Components of one thing: what is written and what is answered, by their names in both versions. Objects that are
   * written out where they stand, by their places: `getBook 200.author`.
   */
  readonly schemas: readonly string[]
  readonly loss?: Loss
}

/** Members of an enumeration that have other names: in the component itself, or in a property of it, and in filters of it. */
export interface Values extends OnSchemas {
  readonly kind: 'values'
  /** Absent when the component is the enumeration. */
  readonly property?: string
  /** Old member → new member. */
  readonly rename: Readonly<Record<string, string>>
  /** New member that the old version lacks → the old member that stands for it. */
  readonly merge: Readonly<Record<string, string>>
}

/** A property whose value is written another way. */
export interface Convert extends OnSchemas {
  readonly kind: 'convert'
  readonly property: string
  readonly up: Turn
  readonly down: Turn
}

/** A property of another name, and perhaps of another value. Absent stays absent. */
export interface Rename extends OnSchemas {
  readonly kind: 'rename'
  readonly from: string
  readonly to: string
  readonly up?: Turn
  readonly down?: Turn
}

/** Properties that take the place of others. `up` is called when one of the old is there, `down` when one of the new is. */
export interface Replace extends OnSchemas {
  readonly kind: 'replace'
  readonly old: readonly string[]
  readonly new: readonly string[]
  readonly up: Turn
  readonly down: Turn
}

/** A property that only the old version has: ignored in requests, and shown as `down` makes it from the new object. */
export interface Drop extends OnSchemas {
  readonly kind: 'drop'
  readonly property: string
  readonly loss: 'drop'
  readonly down?: Turn
}

/** A property that the new version requires: what an old request means that cannot name it. */
export interface Default extends OnSchemas {
  readonly kind: 'default'
  readonly property: string
  readonly value: unknown
}

/** A property that the new version may leave out of answers: what the old version shows instead. */
export interface Optional extends OnSchemas {
  readonly kind: 'optional'
  readonly property: string
  readonly value: unknown
}

/** A property that the new version may answer as null: what the old version shows instead. */
export interface Nullable extends OnSchemas {
  readonly kind: 'nullable'
  readonly property: string
  readonly value: unknown
}

/** A list whose members may be of kinds that the old version does not know: those are left out there. */
export interface LeaveOut extends OnSchemas {
  readonly kind: 'leave-out'
  readonly property: string
  /** The enumeration of kinds. */
  readonly unless: string
  /** The property of a member that holds its kind; absent when the members are the kinds. */
  readonly by?: string
  readonly loss: 'drop'
}

/** An equality filter whose old values mean other values, or several. */
export interface Filter {
  readonly kind: 'filter'
  readonly operation: string
  readonly parameter: string
  /** Old value → every new value that it matches. */
  readonly up: Turn
}

/** A query parameter that the old version accepts and ignores; head never sees it from there. */
export interface IgnoredQuery {
  readonly kind: 'ignored-query'
  readonly operation: string
  readonly parameter: string
}

/** A header that the new version requires of every operation listing it, and the old one left optional. */
export interface RequiredHeader {
  readonly kind: 'required-header'
  readonly header: string
}

/** A header of events under another name. */
export interface RenamedHeader {
  readonly kind: 'renamed-header'
  readonly from: string
  readonly to: string
}

/** A difference that no translation can bridge, or that needs none: accounted for by saying so. Nothing is translated. */
export interface Accept {
  readonly kind: 'accept'
  /** As `dateline diff` prints it: `security-tightened`. */
  readonly code: string
  /** Places as `dateline diff` prints them: `createPass security`. None: wherever the code occurs. */
  readonly at: readonly string[]
}

export type SchemaLens = Values | Convert | Rename | Replace | Drop | Default | Optional | Nullable | LeaveOut
export type Lens = SchemaLens | Filter | IgnoredQuery | RequiredHeader | RenamedHeader | Accept

/**
 * One value in both versions, checked against both documents and translated each way.
 * `only: 'up' | 'down'` where the other way does not come back to it, which the change must have a `loss` for.
 */
export interface Example {
  /** A component that both versions have. */
  readonly schema: string
  readonly old: unknown
  readonly new: unknown
  readonly only?: 'up' | 'down'
}

/** One change, as it is read in the changelog. */
export interface Change {
  /** Verb and noun, the file's name: `return-archived-passes`. */
  readonly id: string
  /** For whoever consumes the API: what differs and why. */
  readonly why: string
  readonly lenses: readonly Lens[]
  readonly examples?: readonly Example[]
  /** By component: the values that mean something, where the document gives no more than their form. */
  readonly values?: Readonly<Record<string, readonly unknown[] | undefined>>
}

/** A version's generated types, as far as changes name them. */
interface VersionTypes {
  readonly schemas: object
  readonly operations: object
}

/** Keys of a union's members, of each of them. */
type KeyOfEach<T> = T extends unknown ? keyof T & string : never
type ValueOfEach<T, Name> = T extends unknown
  ? Name extends keyof T
    ? Exclude<T[Name], undefined>
    : never
  : never

/** Query parameters of an operation. */
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? NonNullable<Query>
  : never
/** Names of the headers that any operation takes; openapi-typescript lists events as operations too. */
type HeaderOf<Operations> = KeyOfEach<
  Operations[keyof Operations] extends infer Operation
    ? Operation extends { parameters: { header?: infer Header } }
      ? NonNullable<Header>
      : never
    : never
>

/** Renames cover exactly what is gone: leaving a member out, or naming one that is still there, does not compile. */
type Renames<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<OldMember, NewMember>]: Exclude<NewMember, OldMember>
}
type Merges<OldMember extends PropertyKey, NewMember extends PropertyKey> = {
  readonly [Member in Exclude<NewMember, OldMember>]?: OldMember
}

/** Both ways between two values. Where one does not come back, `loss` says what happens. */
interface Turns<OldValue, NewValue> {
  readonly up: (value: OldValue) => NewValue
  readonly down: (value: NewValue) => OldValue
  readonly loss?: Loss
}

/** The members of a component that is an enumeration, or of a property of one. */
type MembersOf<Schemas, Name extends keyof Schemas, Property> = Extract<
  [Property] extends [string] ? NonNullable<ValueOfEach<Schemas[Name], Property>> : Schemas[Name],
  string
>

type Mapping<OldMember extends string, NewMember extends string> =
  | { readonly rename: Renames<OldMember, NewMember>; readonly merge?: never; readonly loss?: never }
  | {
      readonly rename?: Renames<OldMember, NewMember>
      readonly merge: Merges<OldMember, NewMember>
      readonly loss: 'merge'
    }

/**
 * Lenses typed over two adjacent versions: naming an operation, schema, property, member or parameter that they do
 * not have does not compile, nor does a direction that is left out or gives the wrong type.
 *
 * @example
 * const v = between<
 *   { schemas: Old.components['schemas']; operations: Old.operations },
 *   { schemas: New.components['schemas']; operations: New.operations }
 * >()
 * export default v.change({ id: 'rename-colour', … })
 */
export function between<Old extends VersionTypes, New extends VersionTypes>() {
  type OldSchemas = Old['schemas']
  type NewSchemas = New['schemas']
  type Shared = keyof OldSchemas & keyof NewSchemas & string
  type SharedOperation = keyof Old['operations'] & keyof New['operations'] & string
  /** What lenses on objects name: components, and what is written out where it stands. */
  type Site = Shared | Inline<unknown, unknown>
  type OldOf<Name> = Name extends Inline<infer Own, unknown> ? Own : ValueOfEach<OldSchemas, Name>
  type NewOf<Name> = Name extends Inline<unknown, infer Own> ? Own : ValueOfEach<NewSchemas, Name>
  type OldProperty<Name extends Site> = KeyOfEach<OldOf<Name>>
  type NewProperty<Name extends Site> = KeyOfEach<NewOf<Name>>
  type OldValue<Name extends Site, Property> = ValueOfEach<OldOf<Name>, Property>
  type NewValue<Name extends Site, Property> = ValueOfEach<NewOf<Name>, Property>
  // Of what types do not know, any name may be gone and any may come.
  type Gone<Name extends Site> =
    string extends NewProperty<Name> ? OldProperty<Name> : Exclude<OldProperty<Name>, NewProperty<Name>>
  type Come<Name extends Site> =
    string extends OldProperty<Name> ? NewProperty<Name> : Exclude<NewProperty<Name>, OldProperty<Name>>
  type OldGroup<Name extends Site, Properties extends string> = {
    [Property in Properties]?: OldValue<Name, Property>
  }
  type NewGroup<Name extends Site, Properties extends string> = {
    [Property in Properties]?: NewValue<Name, Property>
  }
  type OldQuery<Id extends SharedOperation> = QueryOf<Old['operations'][Id]>
  type NewQuery<Id extends SharedOperation> = QueryOf<New['operations'][Id]>

  return {
    change: <const Lenses extends readonly Lens[]>(change: {
      readonly id: string
      readonly why: string
      readonly lenses: Lenses
      readonly examples?: readonly {
        [Name in Shared]: {
          readonly schema: Name
          readonly old: OldSchemas[Name]
          readonly new: NewSchemas[Name]
          readonly only?: 'up' | 'down'
        }
      }[Shared][]
      readonly values?: { readonly [Name in Shared]?: readonly NewSchemas[Name][] }
    }): Change & { readonly lenses: Lenses } => change,

    /** The object at a path in an answer with a status. */
    answer: <
      Id extends SharedOperation,
      Status extends keyof ResponsesOf<Old['operations'][Id]> & keyof ResponsesOf<New['operations'][Id]>,
      const Names extends Path,
    >(
      operation: Id,
      status: Status,
      ...path: Names
    ): Inline<
      Inside<AnswerOf<Old['operations'][Id], Status>, Names>,
      Inside<AnswerOf<New['operations'][Id], Status>, Names>
    > => placeIn(`${operation} ${String(status)}`, path),

    /** The object at a path in the body of a request. */
    body: <Id extends SharedOperation, const Names extends Path>(
      operation: Id,
      ...path: Names
    ): Inline<Inside<BodyOf<Old['operations'][Id]>, Names>, Inside<BodyOf<New['operations'][Id]>, Names>> =>
      placeIn(`${operation} body`, path),

    /** The object at a path in an event. Types do not know it: the gate says where there is none. */
    // biome-ignore lint/suspicious/noExplicitAny: events are not among the types that changes are given
    payload: (event: string, ...path: Path): Inline<any, any> => placeIn(`event ${event}`, path),

    /** The object at a path inside a component. */
    inside: <Name extends Shared, const Names extends Path>(
      schema: Name,
      ...path: Names
    ): Inline<Inside<OldSchemas[Name], Names>, Inside<NewSchemas[Name], Names>> => placeIn(schema, path),

    /** @param schema a component that is an enumeration. */
    values: <Name extends Shared>(
      schema: Name,
      mapping: Mapping<MembersOf<OldSchemas, Name, undefined>, MembersOf<NewSchemas, Name, undefined>>,
    ): Values => ({ kind: 'values', schemas: [schema], rename: {}, merge: {}, ...mapping }) as Values,

    /** @param property a property, written out as an enumeration, of each of the components. */
    valuesOf: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      mapping: Mapping<
        Extract<NonNullable<OldValue<Name, Property>>, string>,
        Extract<NonNullable<NewValue<Name, Property>>, string>
      >,
    ): Values => ({ kind: 'values', schemas, property, rename: {}, merge: {}, ...mapping }) as Values,

    convert: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      turns: Turns<NonNullable<OldValue<Name, Property>>, NonNullable<NewValue<Name, Property>>>,
    ): Convert => ({ kind: 'convert', schemas, property, ...turns }),

    rename: <Name extends Site, From extends Gone<Name>, To extends Come<Name>>(
      schemas: readonly Name[],
      from: From,
      to: To,
      ...turns: [OldValue<Name, From>, NewValue<Name, To>] extends [NewValue<Name, To>, OldValue<Name, From>]
        ? [] | [Turns<OldValue<Name, From>, NewValue<Name, To>>]
        : [Turns<OldValue<Name, From>, NewValue<Name, To>>]
    ): Rename => ({ kind: 'rename', schemas, from, to, ...turns[0] }),

    replace: <Name extends Site, From extends Gone<Name>, To extends Come<Name>>(
      schemas: readonly Name[],
      lens: {
        readonly old: readonly From[]
        readonly new: readonly To[]
        readonly up: (old: OldGroup<Name, From>) => NewGroup<Name, To>
        readonly down: (next: NewGroup<Name, To>) => OldGroup<Name, From>
        readonly loss?: Loss
      },
    ): Replace => ({ kind: 'replace', schemas, ...lens }),

    drop: <Name extends Site, Property extends Gone<Name>>(
      schemas: readonly Name[],
      property: Property,
      lens: {
        readonly loss: 'drop'
        readonly down?: (object: NewOf<Name>) => OldValue<Name, Property>
      },
    ): Drop => ({ kind: 'drop', schemas, property, ...lens }),

    default: <Name extends Site, Property extends NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: NewValue<Name, Property>,
    ): Default => ({ kind: 'default', schemas, property, value }),

    /** @param value what the old version shows where the new one shows nothing. */
    optional: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: OldValue<Name, Property>,
    ): Optional => ({ kind: 'optional', schemas, property, value }),

    /** @param value what the old version shows where the new one shows null. */
    nullable: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: OldValue<Name, Property>,
    ): Nullable => ({ kind: 'nullable', schemas, property, value }),

    leaveOut: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      lens: {
        readonly unless: Shared
        readonly by?: NewValue<Name, Property> extends readonly (infer Member)[] ? KeyOfEach<Member> : never
        readonly loss: 'drop'
      },
    ): LeaveOut => ({ kind: 'leave-out', schemas, property, ...lens }),

    filter: <
      Id extends SharedOperation,
      Name extends keyof OldQuery<Id> & keyof NewQuery<Id> & string,
      const Value extends ValueOfEach<NewQuery<Id>, Name>,
    >(
      operation: Id,
      parameter: Name,
      up: (value: ValueOfEach<OldQuery<Id>, Name>) => readonly Value[],
    ): Filter => ({ kind: 'filter', operation, parameter, up }),

    ignoredQuery: <Id extends SharedOperation>(
      operation: Id,
      parameter: keyof OldQuery<Id> & string,
    ): IgnoredQuery => ({ kind: 'ignored-query', operation, parameter }),

    requiredHeader: (header: HeaderOf<New['operations']>): RequiredHeader => ({
      kind: 'required-header',
      header,
    }),

    renamedHeader: (from: HeaderOf<Old['operations']>, to: HeaderOf<New['operations']>): RenamedHeader => ({
      kind: 'renamed-header',
      from,
      to,
    }),

    /** @param code of the difference. @param at places of it; wherever it occurs, when none is named. */
    accept: (code: string, ...at: readonly string[]): Accept => ({ kind: 'accept', code, at }),
  }
}
