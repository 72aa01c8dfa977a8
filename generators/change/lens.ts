/**
 * Lenses as data. Each has a target (schemas, parameters, an operation or its responses) and describes both
 * directions.
 */

/** How a direction loses information. */
export type Loss =
  /** Several values become one value that the reader knows. */
  | 'merge'
  /** A value or property is left out. */
  | 'drop'

/**
 * Converts a value to the other version. Must be pure: no clock, no state, no exceptions, no mutation of its
 * argument.
 */
export type Turn = (value: never) => unknown

/** Both directions of a lens. `between` gives them the types of the two versions. */
interface BothWays {
  readonly up: Turn
  readonly down: Turn
}

interface OnSchemas {
  /**
   * Names of components that describe the same thing (for example its input and output schemas) and exist in both
   * versions, or locations of inline objects: `getBook 200.author`.
   */
  readonly schemas: readonly string[]
  readonly loss?: Loss
}

/** Renames members of an enumeration: in the component itself, or in one of its properties, and in filters on it. */
export interface Values extends OnSchemas {
  readonly kind: 'values'
  /** Absent if the component is the enumeration. */
  readonly property?: string
  /** Old member → new member. */
  readonly rename: Readonly<Record<string, string>>
  /** New member that the old version lacks → the old member shown in its place. */
  readonly merge: Readonly<Record<string, string>>
}

/** A property, component or place whose value has a different format. */
export interface Convert<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'convert'
  /** Absent if the whole component or place is converted. */
  readonly property?: string
  readonly up: Turns['up']
  readonly down: Turns['down']
}

/** A property with a different name and optionally a different value. A missing property stays missing. */
export interface Rename<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'rename'
  readonly from: string
  readonly to: string
  readonly up?: Turns['up']
  readonly down?: Turns['down']
}

/**
 * A property that became a list, or that was one. A list is read as its first item, so nothing is shown for the others. Items
 * are translated by the lenses on their components.
 */
export interface Wrapped extends OnSchemas {
  readonly kind: 'wrapped'
  readonly from: string
  readonly to: string
  /** The version in which the property is a list. */
  readonly list: 'old' | 'new'
  /** What an empty list means in the other version; absent if it means that the property is absent. */
  readonly empty?: unknown
  readonly loss: 'drop'
}

/** Properties that replace others. `up` runs if any old property is present, `down` if any new one is. */
export interface Replace<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'replace'
  readonly old: readonly string[]
  readonly new: readonly string[]
  readonly up: Turns['up']
  readonly down: Turns['down']
}

/**
 * A property that only the old version has. Requests ignore it; responses show the result of `down` for the new
 * object.
 */
export interface Drop<Down extends Turn = Turn> extends OnSchemas {
  readonly kind: 'drop'
  readonly property: string
  readonly loss: 'drop'
  readonly down?: Down
}

/** A property that the new version requires; old requests, which cannot send it, get `value`. */
export interface Default extends OnSchemas {
  readonly kind: 'default'
  readonly property: string
  readonly value: unknown
}

/** A property that the new version may omit from responses; the old version shows `value` instead. */
export interface Optional extends OnSchemas {
  readonly kind: 'optional'
  readonly property: string
  readonly value: unknown
}

/** A property or component that the new version may return as null; the old version shows `value` instead. */
export interface Nullable extends OnSchemas {
  readonly kind: 'nullable'
  /** Absent if the component itself is nullable. */
  readonly property?: string
  readonly value: unknown
}

/** A property or component that the new version no longer accepts as null; null in an old request becomes `value`. */
export interface NonNull extends OnSchemas {
  readonly kind: 'non-null'
  /** Absent if the component itself was nullable. */
  readonly property?: string
  readonly value: unknown
}

/** A list whose members may be of kinds that the old version lacks; the old version omits those members. */
export interface LeaveOut extends OnSchemas {
  readonly kind: 'leave-out'
  readonly property: string
  /** Name of the enumeration component that lists the kinds. */
  readonly unless: string
  /** The member property that holds the kind; absent if the members are the kinds themselves. */
  readonly by?: string
  readonly loss: 'drop'
}

/** A property that moved into or out of a nested object. A missing property stays missing. */
export interface Moved<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'moved'
  /** Property names on the path, outermost first. */
  readonly from: readonly string[]
  readonly to: readonly string[]
  readonly up?: Turns['up']
  readonly down?: Turns['down']
}

/** An equality filter whose old values map to one or more new values. */
export interface Filter<Up extends Turn = Turn> {
  readonly kind: 'filter'
  readonly operation: string
  readonly parameter: string
  /** Returns all new values that an old value matches. */
  readonly up: Up
}

/** Parameters in one part of the request. */
interface OnParameters {
  /** If empty, every operation that has the parameter. */
  readonly operations: readonly string[]
  readonly in: 'path' | 'query' | 'header'
}

/** A parameter with a new name. Other parameter lenses use the new name. */
export interface RenamedParameter extends OnParameters {
  readonly kind: 'renamed-parameter'
  readonly from: string
  readonly to: string
}

/** A parameter that old requests may omit or that the old version lacks; `value` applies in that case. */
export interface DefaultParameter extends OnParameters {
  readonly kind: 'default-parameter'
  readonly name: string
  readonly value: unknown
}

/** A parameter whose value has a different format. Translated up only. */
export interface ConvertedParameter<Up extends Turn = Turn> extends OnParameters {
  readonly kind: 'converted-parameter'
  readonly in: 'path' | 'query'
  readonly name: string
  readonly up: Up
}

/** Where a value is in a request: a parameter, or a property of the body. */
export type RequestPart = 'path' | 'query' | 'header' | 'body'

/** A parameter or property of the body that moved to a different part of the request. Translated up only. */
export interface MovedParameter<Up extends Turn = Turn> {
  readonly kind: 'moved-parameter'
  /** If empty, every operation that has it. */
  readonly operations: readonly string[]
  readonly from: readonly [part: RequestPart, name: string]
  readonly to: readonly [part: RequestPart, name: string]
  readonly up?: Up
}

/** A parameter that the old version accepts and ignores; the canonical version never sees it. */
export interface IgnoredParameter extends OnParameters {
  readonly kind: 'ignored-parameter'
  readonly name: string
}

/**
 * An operation with a new id, and optionally a new path and method. One handler serves both. Operations that were merged
 * into one have a lens each, with the values that tell them apart.
 */
export interface Served {
  readonly kind: 'served'
  readonly from: string
  readonly by: string
  /** Parameters and properties of the body that old requests lack. */
  readonly fixed?: FixedRequest
}

export type FixedRequest = Readonly<Partial<Record<RequestPart, Readonly<Record<string, unknown>>>>>

/** A response with a new status; the old version keeps the old one. */
export interface Status {
  readonly kind: 'status'
  /** If empty, every operation that returns the status. */
  readonly operations: readonly string[]
  /** As the old document writes it: `201`. */
  readonly from: string
  readonly to: string
}

/** A header that was optional and that the new version requires in every operation that lists it. */
export interface RequiredHeader {
  readonly kind: 'required-header'
  readonly header: string
}

/** A header of events with a new name. */
export interface RenamedHeader {
  readonly kind: 'renamed-header'
  readonly from: string
  readonly to: string
}

/**
 * An event type with a new name: old callers get the old name. An event type that was split has one lens for each new
 * type.
 */
export interface RenamedEvent {
  readonly kind: 'renamed-event'
  readonly from: string
  readonly to: string
}

/** Accepts a difference that cannot be translated or needs no translation. Translates nothing. */
export interface Accept {
  readonly kind: 'accept'
  /** As `dateline diff` prints it: `security-tightened`. */
  readonly code: string
  /** Locations as `dateline diff` prints them: `createBook security`. If empty, all locations with the code. */
  readonly at: readonly string[]
}

/**
 * Behavior that no document shows, under a name that handlers read: true in this version and later ones, false in earlier
 * ones. Translates nothing.
 */
export interface ChangedBehaviour {
  readonly kind: 'behaviour'
  /** Lowercase words joined by hyphens, unique in the family: `archived-in-lists`. */
  readonly name: string
  /** Operation ids, and events as `event book.lent`, that behave differently: named in the changelog. */
  readonly affects: readonly string[]
}

export type SchemaLens =
  | Values
  | Convert
  | Rename
  | Moved
  | Wrapped
  | Replace
  | Drop
  | Default
  | Optional
  | Nullable
  | NonNull
  | LeaveOut
export type ParameterLens = RenamedParameter | DefaultParameter | ConvertedParameter | IgnoredParameter
export type Lens =
  | SchemaLens
  | ParameterLens
  | Served
  | Status
  | Filter
  | RequiredHeader
  | RenamedHeader
  | RenamedEvent
  | MovedParameter
  | ChangedBehaviour
  | Accept
