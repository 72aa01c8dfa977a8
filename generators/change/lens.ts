/** Lenses as data: each has a place (schemas, parameters, an operation, its answers) and the two directions of that place. */

/** What happens where a direction cannot keep everything apart. */
export type Loss =
  /** Several values become one that the reader knows. */
  | 'merge'
  /** Something is left out. */
  | 'drop'

/** Turns a value of one version into another's. Plain functions of their argument: no clock, no state, never throwing. */
export type Turn = (value: never) => unknown

/** Both ways of a lens. `between` gives them the types of the two versions. */
interface BothWays {
  readonly up: Turn
  readonly down: Turn
}

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
export interface Convert<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'convert'
  readonly property: string
  readonly up: Turns['up']
  readonly down: Turns['down']
}

/** A property of another name, and perhaps of another value. Absent stays absent. */
export interface Rename<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'rename'
  readonly from: string
  readonly to: string
  readonly up?: Turns['up']
  readonly down?: Turns['down']
}

/** Properties that take the place of others. `up` is called when one of the old is there, `down` when one of the new is. */
export interface Replace<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'replace'
  readonly old: readonly string[]
  readonly new: readonly string[]
  readonly up: Turns['up']
  readonly down: Turns['down']
}

/** A property that only the old version has: ignored in requests, and shown as `down` makes it from the new object. */
export interface Drop<Down extends Turn = Turn> extends OnSchemas {
  readonly kind: 'drop'
  readonly property: string
  readonly loss: 'drop'
  readonly down?: Down
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

/** What the new version may answer as null: what the old version shows instead. */
export interface Nullable extends OnSchemas {
  readonly kind: 'nullable'
  /** Absent when it is the component itself. */
  readonly property?: string
  readonly value: unknown
}

/** What the new version no longer takes as null: what an old request means by it. */
export interface NonNull extends OnSchemas {
  readonly kind: 'non-null'
  /** Absent when it is the component itself. */
  readonly property?: string
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

/** A property that stands elsewhere in the object: a property of an object in it, or no longer one. Absent stays absent. */
export interface Moved<Turns extends BothWays = BothWays> extends OnSchemas {
  readonly kind: 'moved'
  /** Names on the way to it, outermost first. */
  readonly from: readonly string[]
  readonly to: readonly string[]
  readonly up?: Turns['up']
  readonly down?: Turns['down']
}

/** An equality filter whose old values mean other values, or several. */
export interface Filter<Up extends Turn = Turn> {
  readonly kind: 'filter'
  readonly operation: string
  readonly parameter: string
  /** Old value → every new value that it matches. */
  readonly up: Up
}

/** Parameters that handlers get from one part of requests. */
interface OnParameters {
  /** None: every operation that has the parameter. */
  readonly operations: readonly string[]
  readonly in: 'path' | 'query' | 'header'
}

/** A parameter of another name. The other lenses of parameters know it by the new one. */
export interface RenamedParameter extends OnParameters {
  readonly kind: 'renamed-parameter'
  readonly from: string
  readonly to: string
}

/** A parameter that an old request may leave out, or has no name for: what it means then. */
export interface DefaultParameter extends OnParameters {
  readonly kind: 'default-parameter'
  readonly name: string
  readonly value: unknown
}

/** A parameter whose value is written another way. It travels up alone. */
export interface ConvertedParameter<Up extends Turn = Turn> extends OnParameters {
  readonly kind: 'converted-parameter'
  readonly in: 'path' | 'query'
  readonly name: string
  readonly up: Up
}

/** A parameter that the old version accepts and ignores; the canonical version never sees it. */
export interface IgnoredParameter extends OnParameters {
  readonly kind: 'ignored-parameter'
  readonly name: string
}

/** An operation under another id, and perhaps under another path and method: one handler serves both. */
export interface Served {
  readonly kind: 'served'
  readonly from: string
  readonly by: string
}

/** An answer under another status: the old version keeps its own. */
export interface Status {
  readonly kind: 'status'
  /** None: every operation that answers so. */
  readonly operations: readonly string[]
  /** As the old document writes it: `201`. */
  readonly from: string
  readonly to: string
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
  /** Places as `dateline diff` prints them: `createBook security`. None: wherever the code occurs. */
  readonly at: readonly string[]
}

export type SchemaLens =
  | Values
  | Convert
  | Rename
  | Moved
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
  | Accept
