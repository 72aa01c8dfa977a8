/** Constructors of lenses on requests, operations, responses and events, typed over two adjacent versions. */
import type { BodyOf, PartOf } from './inline.ts'
import type {
  ConvertedParameter,
  DefaultParameter,
  Filter,
  FixedRequest,
  IgnoredParameter,
  MovedParameter,
  RenamedEvent,
  RenamedHeader,
  RenamedParameter,
  RequestPart,
  RequiredHeader,
  Served,
  Status,
} from './lens.ts'
import type { HeaderOf, In, KeyOfEach, Part, StatusOf, ValueOfEach, VersionTypes } from './version-types.ts'

/** Returns the constructors. */
export function requestLenses<Old extends VersionTypes, New extends VersionTypes>() {
  type SharedOperation = keyof Old['operations'] & keyof New['operations'] & string
  type NewOperation = keyof New['operations'] & string
  /** An operation whose id is new replaces one of the operations that were removed. */
  type OldOperation<Id extends NewOperation> = Id extends keyof Old['operations']
    ? Old['operations'][Id]
    : Old['operations'][Exclude<keyof Old['operations'], keyof New['operations']>]
  /** The old operations that one of the new version can serve. */
  type ServedBy<Id extends NewOperation> =
    | OldOperation<Id>
    | Old['operations'][Exclude<keyof Old['operations'], keyof New['operations']>]
  type OldIn<Id extends NewOperation, Where> = In<OldOperation<Id>, Where>
  type NewIn<Id extends NewOperation, Where> = In<New['operations'][Id], Where>
  type OldParameter<Id extends NewOperation, Where, Name> =
    Name extends KeyOfEach<OldIn<Id, Where>> ? ValueOfEach<OldIn<Id, Where>, Name> : unknown

  return {
    filter: <
      Id extends SharedOperation,
      Name extends KeyOfEach<OldIn<Id, 'query'>> & KeyOfEach<NewIn<Id, 'query'>>,
      const Value extends ValueOfEach<NewIn<Id, 'query'>, Name>,
    >(
      operation: Id,
      parameter: Name,
      up: (value: ValueOfEach<OldIn<Id, 'query'>, Name>) => readonly Value[],
    ): Filter<(value: ValueOfEach<OldIn<Id, 'query'>, Name>) => readonly Value[]> => ({
      kind: 'filter',
      operation,
      parameter,
      up,
    }),

    /** @param operations operation ids; if empty, every operation that has the parameter. */
    renamedParameter: <
      Where extends Part,
      Id extends NewOperation,
      From extends KeyOfEach<OldIn<Id, Where>>,
      To extends KeyOfEach<NewIn<Id, Where>>,
    >(
      where: Where,
      from: From,
      to: To,
      ...operations: readonly Id[]
    ): RenamedParameter => ({ kind: 'renamed-parameter', operations, in: where, from, to }),

    /** @param value what the new version reads if an old request omits the parameter. */
    defaultParameter: <Where extends Part, Id extends NewOperation, Name extends KeyOfEach<NewIn<Id, Where>>>(
      where: Where,
      name: Name,
      value: ValueOfEach<NewIn<Id, Where>, Name>,
      ...operations: readonly Id[]
    ): DefaultParameter => ({ kind: 'default-parameter', operations, in: where, name, value }),

    /** Converts a parameter on the way up. Headers are plain strings and are not converted. */
    convertedParameter: <
      Where extends Exclude<Part, 'header'>,
      Id extends NewOperation,
      Name extends KeyOfEach<NewIn<Id, Where>>,
    >(
      where: Where,
      name: Name,
      up: (value: OldParameter<Id, Where, Name>) => ValueOfEach<NewIn<Id, Where>, Name>,
      ...operations: readonly Id[]
    ): ConvertedParameter<(value: OldParameter<Id, Where, Name>) => ValueOfEach<NewIn<Id, Where>, Name>> => ({
      kind: 'converted-parameter',
      operations,
      in: where,
      name,
      up,
    }),

    /**
     * @param from the part of the request, and the name: `['query', 'reason']`.
     * @param to the same in the new version; `body` for a property of the body.
     */
    movedParameter: <
      Id extends NewOperation,
      Before extends RequestPart,
      After extends RequestPart,
      From extends KeyOfEach<PartOf<ServedBy<Id>, Before>>,
      To extends KeyOfEach<PartOf<New['operations'][Id], After>>,
      Given extends ValueOfEach<PartOf<ServedBy<Id>, Before>, From>,
      Made extends ValueOfEach<PartOf<New['operations'][Id], After>, To>,
    >(
      from: readonly [Before, From],
      to: readonly [After, To],
      operation: Id,
      ...up: [Given] extends [Made] ? [] | [(value: Given) => Made] : [(value: Given) => Made]
    ): MovedParameter<(value: Given) => Made> => ({
      kind: 'moved-parameter',
      operations: [operation],
      from,
      to,
      ...(up[0] && { up: up[0] }),
    }),

    ignoredParameter: <Where extends Part, Id extends NewOperation>(
      where: Where,
      name: KeyOfEach<OldIn<Id, Where>>,
      ...operations: readonly Id[]
    ): IgnoredParameter => ({ kind: 'ignored-parameter', operations, in: where, name }),

    /**
     * @param from the id that was removed.
     * @param by the id of the operation that replaced it; several operations can have the same.
     * @param fixed values that requests of the old operation get in the new one: `{ query: { type: 'film' } }`.
     */
    served: <By extends NewOperation>(
      from: Exclude<keyof Old['operations'], keyof New['operations']> & string,
      by: By,
      fixed?: {
        readonly [Where in Part]?: Partial<NewIn<By, Where>>
      } & { readonly body?: Partial<BodyOf<New['operations'][By]>> },
    ): Served => ({ kind: 'served', from, by, ...(fixed && { fixed: fixed as FixedRequest }) }),

    /**
     * @param from the status in the old version.
     * @param to the status in the new version.
     */
    status: <Id extends NewOperation>(
      from: StatusOf<OldOperation<Id>> & (number | string),
      to: StatusOf<New['operations'][Id]> & (number | string),
      ...operations: readonly Id[]
    ): Status => ({ kind: 'status', operations, from: String(from), to: String(to) }),

    requiredHeader: (header: HeaderOf<New['operations']>): RequiredHeader => ({
      kind: 'required-header',
      header,
    }),

    renamedHeader: (from: HeaderOf<Old['operations']>, to: HeaderOf<New['operations']>): RenamedHeader => ({
      kind: 'renamed-header',
      from,
      to,
    }),

    /**
     * @param from the event type in the old version; several lenses can name it if it was split.
     * @param to the event type in the new version.
     */
    renamedEvent: (from: string, to: string): RenamedEvent => ({ kind: 'renamed-event', from, to }),
  }
}
