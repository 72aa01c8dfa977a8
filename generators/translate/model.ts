/** Describes, as data, how a value is translated between two adjacent versions. */
import type { Lens, NonNull, Nullable, SchemaLens } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, Schema } from '../ir/model.ts'
import type { MappedType } from '../ir/type-mapping.ts'

/** Up: from old to new, for requests. Down: from new to old, for responses and events. */
export type Direction = 'up' | 'down'

/** A lens with its declaration, for generated code that calls its functions. */
export interface LensAt<L extends Lens = Lens> {
  readonly change: LoadedChange
  readonly index: number
  readonly lens: L
}

/** The translation of one value. */
export type Rewrite =
  | { readonly kind: 'same' }
  /** Calls the function of a component pair. */
  | { readonly kind: 'call'; readonly key: string }
  | {
      readonly kind: 'list'
      readonly item: Rewrite
      readonly nullable: boolean
      readonly without?: HiddenMembers
    }
  | {
      readonly kind: 'map'
      readonly value: Rewrite
      readonly nullable: boolean
      readonly except: readonly string[]
    }
  | { readonly kind: 'object'; readonly members: readonly ShapeMember[] }
  | { readonly kind: 'names'; readonly names: ReadonlyMap<string, string>; readonly change: LoadedChange }
  | { readonly kind: 'turn'; readonly by: LensAt; readonly nullish: boolean }
  | { readonly kind: 'choice'; readonly cases: readonly Case[]; readonly union: Schema }
  /** Makes a list of one item. */
  | { readonly kind: 'wrap'; readonly inner: Rewrite; readonly empty: unknown }
  /** Takes the first item of a list; `empty` if the list has no item. */
  | { readonly kind: 'first'; readonly inner: Rewrite; readonly empty: unknown }
  /** Replaces null with a value. */
  | {
      readonly kind: 'instead'
      readonly value: unknown
      readonly rewrite: Rewrite
      readonly change: LoadedChange
    }
  /** Takes the moved values out, rewrites the rest, and then puts them at their targets. */
  | { readonly kind: 'relocate'; readonly inner: Rewrite; readonly moves: readonly ValueMove[] }
  /** Makes the value that handlers or callers get from a JSON value. */
  | { readonly kind: 'decode'; readonly type: MappedType }
  /** Applies all parts, one after the other. */
  | { readonly kind: 'all'; readonly parts: readonly Rewrite[] }

/** List members of kinds that the older version lacks, which it does not show. */
export interface HiddenMembers {
  /** The enumeration of kinds. */
  readonly kinds: string
  /** The property that holds the kind; absent if the members are the kinds. */
  readonly by?: string
  readonly added: readonly string[]
  readonly change: LoadedChange
}

/** A value that moves from one path to another. */
export interface ValueMove {
  readonly source: readonly string[]
  readonly target: readonly string[]
  readonly nullable: boolean
  readonly rewrite: Rewrite
  readonly change: LoadedChange
  /** Paths of enclosing objects that must exist even if nothing moves into them. */
  readonly made: readonly (readonly string[])[]
}

export type ShapeMember =
  | {
      readonly kind: 'change'
      readonly name: string
      /** Whether it may be absent. */
      readonly optional: boolean
      readonly nullable: boolean
      readonly rewrite: Rewrite
      /** Whether null is rewritten too. */
      readonly takesNull?: true
    }
  /** @property change absent if the property is removed because only the newer version has it. */
  | { readonly kind: 'remove'; readonly name: string; readonly change?: LoadedChange }
  | {
      readonly kind: 'move'
      readonly from: string
      readonly to: string
      readonly by?: LensAt
      /** The rewrite of the value, if no lens function makes it. */
      readonly rewrite?: Rewrite
      readonly optional: boolean
      readonly change: LoadedChange
    }
  | { readonly kind: 'group'; readonly from: readonly string[]; readonly by: LensAt }
  /** Sets the value if it is absent. */
  | {
      readonly kind: 'default'
      readonly name: string
      readonly value: unknown
      /** Whether the older version also has the property. */
      readonly known: boolean
      readonly change: LoadedChange
    }
  /** Sets a value in place of an absent or null one; rewrites other values. */
  | {
      readonly kind: 'fill'
      readonly name: string
      readonly of: 'absent' | 'null'
      readonly value: unknown
      readonly optional: boolean
      readonly nullable: boolean
      readonly rewrite: Rewrite
      readonly change: LoadedChange
    }
  /** Makes the property from the whole object. */
  | { readonly kind: 'make'; readonly name: string; readonly by: LensAt }

export interface Case {
  /** Identifies values of this union member; absent if nothing identifies them. */
  readonly test?: Test
  readonly rewrite: Rewrite
}

export type Test =
  | { readonly kind: 'tag'; readonly property: string; readonly values: readonly unknown[] }
  | { readonly kind: 'type'; readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' }
  | { readonly kind: 'has'; readonly property: string }
  | { readonly kind: 'some'; readonly tests: readonly Test[] }

/** The function that translates a component of one version to a component of the other. */
export interface PairFunction {
  readonly key: string
  readonly old: string
  readonly next: string
  /** Whether the component itself allows null. */
  readonly nullable: boolean
  readonly rewrite: Rewrite
}

/** A location that is not translated. */
export interface Missed {
  readonly place: SourceLocation
  /** The rewrite that would be needed there, using the functions of the step's `aside`. */
  readonly rewrite: Rewrite
}

/** The translation between two adjacent versions in one direction. */
export interface TranslationStep {
  readonly direction: Direction
  readonly old: Api
  readonly next: Api
  readonly lenses: readonly LensAt[]
  /** Functions by key; filled while pairs are built. */
  readonly functions: Map<string, PairFunction>
  /** Locations that no rewrite reaches, with the rewrite that would be needed. */
  readonly missed: Missed[]
  /** Pointers of references that have a rewrite, in the source document. */
  readonly reached: Set<string>
  /** Pointers of schemas in the source document whose values lens functions make. */
  readonly byHand: Set<string>
  /** Objects that lenses can target: components, and locations such as `getBook 200.author`. */
  readonly sites: Set<string>
  /** Returns the rewrite of a scalar, if the step decodes the values of one version. */
  readonly scalar?: (schema: Schema) => Rewrite | undefined
  /** A copy of the step, to determine which rewrite an unreached location would need. */
  aside(): TranslationStep
  /**
   * Returns the rewrite from one schema to the other.
   *
   * @param at location of both schemas, as differences are located; absent if lenses can only name components
   * there.
   */
  pair(old: Schema, next: Schema, at?: string): Rewrite
}

/** Returns the source and the target of a step. */
export const sidesOf = <Side>(
  { direction }: Pick<TranslationStep, 'direction'>,
  old: Side,
  next: Side,
): [Side, Side] => (direction === 'up' ? [old, next] : [next, old])

export const SAME: Rewrite = { kind: 'same' }

/** Returns the schema lenses that name one of the components. */
export function lensesOn(step: TranslationStep, owners: ReadonlySet<string>): LensAt<SchemaLens>[] {
  return step.lenses.filter(
    (each): each is LensAt<SchemaLens> =>
      'schemas' in each.lens && each.lens.schemas.some((name) => owners.has(name)),
  )
}

/** Returns the renamed members, in the given direction. */
export function namesTable(
  lens: {
    readonly rename: Readonly<Record<string, string>>
    readonly merge: Readonly<Record<string, string>>
  },
  direction: Direction,
): ReadonlyMap<string, string> {
  const renamed = Object.entries(lens.rename)
  if (direction === 'up') return new Map(renamed)
  return new Map([
    ...renamed.map(([old, next]): [string, string] => [next, old]),
    ...Object.entries(lens.merge),
  ])
}

/** Returns the lens that replaces null for a whole component, in the direction of the step. */
export function wholeLens(
  step: TranslationStep,
  ...components: readonly string[]
): LensAt<Nullable | NonNull> | undefined {
  const kind = step.direction === 'down' ? 'nullable' : 'non-null'
  return lensesOn(step, new Set(components)).find(
    (each): each is LensAt<Nullable | NonNull> =>
      (each.lens.kind === 'nullable' || each.lens.kind === 'non-null') &&
      each.lens.kind === kind &&
      each.lens.property === undefined,
  )
}
