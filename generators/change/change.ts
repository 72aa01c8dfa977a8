/**
 * A change between two adjacent versions. It consists of lenses: from one declaration, the toolkit derives the
 * translation in both directions, the differences that the change accounts for, and the changelog entry.
 *
 * *Up* is from old to new (requests); *down* is from new to old (responses and events). A lens on a component
 * applies wherever the component occurs: nested, in lists, maps and unions, in events, in batches. A lens on
 * parameters or statuses applies to the operations that it lists, or to all operations if it lists none.
 */

import {
  type AnswerOf,
  type BodyOf,
  type Inline,
  type Inside,
  type PropertyPath,
  placeIn,
  type ResponsesOf,
} from './inline.ts'
import type {
  Accept,
  ChangedBehaviour,
  Convert,
  Default,
  Drop,
  LeaveOut,
  Lens,
  Loss,
  Moved,
  NonNull,
  Nullable,
  Optional,
  Rename,
  Replace,
  Values,
  Wrapped,
} from './lens.ts'
import { requestLenses } from './request-lenses.ts'
import type {
  At,
  KeyOfEach,
  Leading,
  ListsOf,
  Mapping,
  MembersOf,
  Turns,
  ValueOfEach,
  VersionTypes,
} from './version-types.ts'

export { decide } from './decide.ts'
export type * from './lens.ts'

/**
 * One value in both versions. The gate validates it against both documents and translates it in each direction. Set
 * `only` if the opposite direction loses information; one lens of the change must then declare a `loss`.
 */
export interface Example {
  /** A component that both versions have. */
  readonly schema: string
  readonly old: unknown
  readonly new: unknown
  readonly only?: 'up' | 'down'
}

/** One change, as the changelog shows it. */
export interface Change {
  /** Verb and noun; also the file name: `return-archived-passes`. */
  readonly id: string
  /** Changelog text for API users: what changed and why. */
  readonly why: string
  readonly lenses: readonly Lens[]
  readonly examples?: readonly Example[]
  /** Meaningful values by component, for the proof, if the schema describes only their form. */
  readonly values?: Readonly<Record<string, readonly unknown[] | undefined>>
}

/**
 * Returns lens constructors that are typed over two adjacent versions. Code does not compile if it names an
 * operation, schema, property, member or parameter that the versions do not have, omits a required direction, or
 * returns the wrong type.
 *
 * @example
 * const v = between<
 *   { schemas: Old.components['schemas']; operations: Old.operations },
 *   { schemas: New.components['schemas']; operations: New.operations }
 * >()
 * export default v.change({ id: 'rename-color', … })
 */
export function between<Old extends VersionTypes, New extends VersionTypes>() {
  type OldSchemas = Old['schemas']
  type NewSchemas = New['schemas']
  type Shared = keyof OldSchemas & keyof NewSchemas & string
  type SharedOperation = keyof Old['operations'] & keyof New['operations'] & string
  /** Targets of lenses on objects: components and inline objects. */
  type Site = Shared | Inline<unknown, unknown>
  type OldOf<Name> = Name extends Inline<infer Own, unknown> ? Own : ValueOfEach<OldSchemas, Name>
  type NewOf<Name> = Name extends Inline<unknown, infer Own> ? Own : ValueOfEach<NewSchemas, Name>
  type OldProperty<Name extends Site> = KeyOfEach<OldOf<Name>>
  type NewProperty<Name extends Site> = KeyOfEach<NewOf<Name>>
  type OldValue<Name extends Site, Property> = ValueOfEach<OldOf<Name>, Property>
  type NewValue<Name extends Site, Property> = ValueOfEach<NewOf<Name>, Property>
  // If a type has an index signature, any name may have been removed or added.
  type Removed<Name extends Site> =
    string extends NewProperty<Name> ? OldProperty<Name> : Exclude<OldProperty<Name>, NewProperty<Name>>
  type Added<Name extends Site> =
    string extends OldProperty<Name> ? NewProperty<Name> : Exclude<NewProperty<Name>, OldProperty<Name>>
  type OldGroup<Name extends Site, Properties extends string> = {
    [Property in Properties]?: OldValue<Name, Property>
  }
  type NewGroup<Name extends Site, Properties extends string> = {
    [Property in Properties]?: NewValue<Name, Property>
  }

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

    /** The object at a path in a response with the given status. */
    answer: <
      Id extends SharedOperation,
      Status extends keyof ResponsesOf<Old['operations'][Id]> & keyof ResponsesOf<New['operations'][Id]>,
      const Names extends PropertyPath,
    >(
      operation: Id,
      status: Status,
      ...path: Names
    ): Inline<
      Inside<AnswerOf<Old['operations'][Id], Status>, Names>,
      Inside<AnswerOf<New['operations'][Id], Status>, Names>
    > => placeIn(`${operation} ${String(status)}`, path),

    /** The object at a path in a request body. */
    body: <Id extends SharedOperation, const Names extends PropertyPath>(
      operation: Id,
      ...path: Names
    ): Inline<Inside<BodyOf<Old['operations'][Id]>, Names>, Inside<BodyOf<New['operations'][Id]>, Names>> =>
      placeIn(`${operation} body`, path),

    /**
     * The object at a path in an event. The generated types do not cover events, so the gate reports a wrong path.
     */
    // biome-ignore lint/suspicious/noExplicitAny: events are not among the types that changes are given
    payload: (event: string, ...path: PropertyPath): Inline<any, any> => placeIn(`event ${event}`, path),

    /** The object at a path inside a component. */
    inside: <Name extends Shared, const Names extends PropertyPath>(
      schema: Name,
      ...path: Names
    ): Inline<Inside<OldSchemas[Name], Names>, Inside<NewSchemas[Name], Names>> => placeIn(schema, path),

    values: <Name extends Shared>(
      schema: Name,
      mapping: Mapping<MembersOf<OldSchemas, Name, undefined>, MembersOf<NewSchemas, Name, undefined>>,
    ): Values => ({ kind: 'values', schemas: [schema], rename: {}, merge: {}, ...mapping }) as Values,

    /**
     * Maps the members of an inline enumeration.
     *
     * @param property the property that holds it in each component.
     */
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
      // The condition makes the compiler infer the names first; then literals in results keep their types.
      ...turns: [OldOf<Name>] extends [never]
        ? [never]
        : [Turns<NonNullable<OldValue<Name, Property>>, NonNullable<NewValue<Name, Property>>>]
    ): Convert<Turns<NonNullable<OldValue<Name, Property>>, NonNullable<NewValue<Name, Property>>>> => ({
      kind: 'convert',
      schemas,
      property,
      ...turns[0],
    }),

    /** Converts the whole value of a component, body, answer or event, for example a list that became an object. */
    convertWhole: <Name extends Site>(
      schema: Name,
      // As in `convert`.
      ...turns: [OldOf<Name>] extends [never] ? [never] : [Turns<OldOf<Name>, NewOf<Name>>]
    ): Convert<Turns<OldOf<Name>, NewOf<Name>>> => ({ kind: 'convert', schemas: [schema], ...turns[0] }),

    rename: <Name extends Site, From extends Removed<Name>, To extends Added<Name>>(
      schemas: readonly Name[],
      from: From,
      to: To,
      ...turns: [OldValue<Name, From>, NewValue<Name, To>] extends [NewValue<Name, To>, OldValue<Name, From>]
        ? [] | [Turns<OldValue<Name, From>, NewValue<Name, To>>]
        : [Turns<OldValue<Name, From>, NewValue<Name, To>>]
    ): Rename<Turns<OldValue<Name, From>, NewValue<Name, To>>> => ({
      kind: 'rename',
      schemas,
      from,
      to,
      ...turns[0],
    }),

    /**
     * Moves a property.
     *
     * @param from, to property names on the path, outermost first.
     */
    moved: <Name extends Site, const From extends readonly string[], const To extends readonly string[]>(
      schemas: readonly Name[],
      from: From & Leading<OldOf<Name>, From>,
      to: To & Leading<NewOf<Name>, To>,
      ...turns: [At<OldOf<Name>, From>, At<NewOf<Name>, To>] extends [
        At<NewOf<Name>, To>,
        At<OldOf<Name>, From>,
      ]
        ? [] | [Turns<At<OldOf<Name>, From>, At<NewOf<Name>, To>>]
        : [Turns<At<OldOf<Name>, From>, At<NewOf<Name>, To>>]
    ): Moved<Turns<At<OldOf<Name>, From>, At<NewOf<Name>, To>>> => ({
      kind: 'moved',
      schemas,
      from,
      to,
      ...turns[0],
    }),

    /**
     * A property that became a list.
     *
     * @param lens `empty` is the old value for an empty list.
     */
    wrapped: <Name extends Site, From extends OldProperty<Name>, To extends NewProperty<Name>>(
      schemas: readonly Name[],
      from: From,
      to: To & ListsOf<NewOf<Name>>,
      lens: { readonly loss: 'drop'; readonly empty?: OldValue<Name, From> },
    ): Wrapped => ({ kind: 'wrapped', schemas, from, to, list: 'new', ...lens }),

    /**
     * A list that became a single value.
     *
     * @param lens `empty` is the new value for an empty list.
     */
    unwrapped: <Name extends Site, From extends OldProperty<Name>, To extends NewProperty<Name>>(
      schemas: readonly Name[],
      from: From & ListsOf<OldOf<Name>>,
      to: To,
      lens: { readonly loss: 'drop'; readonly empty?: NewValue<Name, To> },
    ): Wrapped => ({ kind: 'wrapped', schemas, from, to, list: 'old', ...lens }),

    replace: <Name extends Site, From extends Removed<Name>, To extends Added<Name>>(
      schemas: readonly Name[],
      lens: {
        readonly old: readonly From[]
        readonly new: readonly To[]
        readonly up: (old: OldGroup<Name, From>) => NewGroup<Name, To>
        readonly down: (next: NewGroup<Name, To>) => OldGroup<Name, From>
        readonly loss?: Loss
      },
    ): Replace<Turns<OldGroup<Name, From>, NewGroup<Name, To>>> => ({ kind: 'replace', schemas, ...lens }),

    drop: <Name extends Site, Property extends Removed<Name>>(
      schemas: readonly Name[],
      property: Property,
      // As in `convert`.
      ...lens: [OldOf<Name>] extends [never]
        ? [never]
        : [
            {
              readonly loss: 'drop'
              readonly down?: (object: NewOf<Name>) => OldValue<Name, Property>
            },
          ]
    ): Drop<(object: NewOf<Name>) => OldValue<Name, Property>> => ({
      kind: 'drop',
      schemas,
      property,
      ...lens[0],
    }),

    default: <Name extends Site, Property extends NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: NewValue<Name, Property>,
    ): Default => ({ kind: 'default', schemas, property, value }),

    /** @param value what the old version shows if the new version omits the property. */
    optional: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: OldValue<Name, Property>,
    ): Optional => ({ kind: 'optional', schemas, property, value }),

    /** @param value what the old version shows if the new version returns null. */
    nullable: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: OldValue<Name, Property>,
    ): Nullable => ({ kind: 'nullable', schemas, property, value }),

    /** @param value what the old version shows if the new version returns null for the whole component. */
    nullableWhole: <Name extends Shared>(schema: Name, value: OldSchemas[Name]): Nullable => ({
      kind: 'nullable',
      schemas: [schema],
      value,
    }),

    /** @param value what the new version reads if an old request sends null. */
    nonNull: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      value: NewValue<Name, Property>,
    ): NonNull => ({ kind: 'non-null', schemas, property, value }),

    /** @param value what the new version reads if an old request sends null for the whole component. */
    nonNullWhole: <Name extends Shared>(schema: Name, value: NewSchemas[Name]): NonNull => ({
      kind: 'non-null',
      schemas: [schema],
      value,
    }),

    leaveOut: <Name extends Site, Property extends OldProperty<Name> & NewProperty<Name>>(
      schemas: readonly Name[],
      property: Property,
      lens: {
        readonly unless: Shared
        readonly by?: NewValue<Name, Property> extends readonly (infer Member)[] ? KeyOfEach<Member> : never
        readonly loss: 'drop'
      },
    ): LeaveOut => ({ kind: 'leave-out', schemas, property, ...lens }),

    ...requestLenses<Old, New>(),

    /**
     * @param name what the new version does; handlers read it as `context.behaviour[name]`.
     * @param affects operation ids, and events as `event book.lent`, for the changelog.
     */
    behaviour: (
      name: string,
      ...affects: readonly ((keyof New['operations'] & string) | `event ${string}`)[]
    ): ChangedBehaviour => ({
      kind: 'behaviour',
      name,
      affects,
    }),

    /**
     * @param code the code of the difference.
     * @param at its locations; if empty, all locations.
     */
    accept: (code: string, ...at: readonly string[]): Accept => ({ kind: 'accept', code, at }),
  }
}
