/** What happens to a value between two adjacent versions, as data. */
import type { Lens, NonNull, Nullable, SchemaLens } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, Schema } from '../ir/model.ts'

/** Up: from old to new, as requests travel. Down: from new to old, as answers and events travel. */
export type Direction = 'up' | 'down'

/** A lens and where it is declared, for code that calls its functions. */
export interface LensAt<L extends Lens = Lens> {
  readonly change: LoadedChange
  readonly index: number
  readonly lens: L
}

/** What happens to one value. */
export type Rewrite =
  | { readonly kind: 'same' }
  /** The function of a pair of components. */
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
  /** Something in the place of null. */
  | {
      readonly kind: 'instead'
      readonly value: unknown
      readonly rewrite: Rewrite
      readonly change: LoadedChange
    }
  /** What moves is taken before the rest is rewritten, and put where it belongs after. */
  | { readonly kind: 'relocate'; readonly inner: Rewrite; readonly moves: readonly ValueMove[] }
  /** One after the other. */
  | { readonly kind: 'all'; readonly parts: readonly Rewrite[] }

/** Members of a list that the older version does not show: those of a kind that it does not have. */
export interface HiddenMembers {
  /** The enumeration of kinds. */
  readonly kinds: string
  /** The property that holds the kind; absent when the members are the kinds. */
  readonly by?: string
  readonly added: readonly string[]
  readonly change: LoadedChange
}

/** A value that goes from one path to another. */
export interface ValueMove {
  readonly source: readonly string[]
  readonly target: readonly string[]
  readonly nullable: boolean
  readonly rewrite: Rewrite
  readonly change: LoadedChange
  /** Paths of objects on the way that must be there even where nothing moves. */
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
      /** Whether null is rewritten as well. */
      readonly takesNull?: true
    }
  /** @property change absent for what is left out because only the newer version has it. */
  | { readonly kind: 'remove'; readonly name: string; readonly change?: LoadedChange }
  | {
      readonly kind: 'move'
      readonly from: string
      readonly to: string
      readonly by?: LensAt
      /** What happens to its value besides, where no function of a lens makes it. */
      readonly rewrite?: Rewrite
      readonly optional: boolean
      readonly change: LoadedChange
    }
  | { readonly kind: 'group'; readonly from: readonly string[]; readonly by: LensAt }
  /** Set when it is absent. */
  | {
      readonly kind: 'default'
      readonly name: string
      readonly value: unknown
      /** Whether the older version has it too. */
      readonly known: boolean
      readonly change: LoadedChange
    }
  /** Something in the place of what is not shown; otherwise as it is written there. */
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
  /** Made from the whole object. */
  | { readonly kind: 'make'; readonly name: string; readonly by: LensAt }

export interface Case {
  /** Holds for values of this member of the union; absent when nothing tells it apart. */
  readonly test?: Test
  readonly rewrite: Rewrite
}

export type Test =
  | { readonly kind: 'tag'; readonly property: string; readonly values: readonly unknown[] }
  | { readonly kind: 'type'; readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' }
  | { readonly kind: 'has'; readonly property: string }
  | { readonly kind: 'some'; readonly tests: readonly Test[] }

/** The function that takes a component of one version to a component of the other. */
export interface PairFunction {
  readonly key: string
  readonly old: string
  readonly next: string
  /** Whether the component itself admits null. */
  readonly nullable: boolean
  readonly rewrite: Rewrite
}

/** A place whose values nothing translates. */
export interface Missed {
  readonly place: SourceLocation
  /** What would have to happen there, by the functions of the step's `aside`. */
  readonly rewrite: Rewrite
}

/** One step between two adjacent versions in one direction. */
export interface TranslationStep {
  readonly direction: Direction
  readonly old: Api
  readonly next: Api
  readonly lenses: readonly LensAt[]
  /** Built so far, by key: filled while pairs are built. */
  readonly functions: Map<string, PairFunction>
  /** What no rewrite reaches, with what would have to happen there. */
  readonly missed: Missed[]
  /** What rewrites were made for: pointers of references, in the document that values come from. */
  readonly reached: Set<string>
  /** Pointers of schemas there whose values the functions of lenses make. */
  readonly byHand: Set<string>
  /** Objects that lenses can name, by where they stand: components, and `getBook 200.author`. */
  readonly sites: Set<string>
  /** The same step, for asking what would have to happen where nothing does. */
  aside(): TranslationStep
  /**
   * @param at where both stand, as a difference there is located; absent for what no lens can name but by components.
   * @returns what takes a value of the one schema to the other.
   */
  pair(old: Schema, next: Schema, at?: string): Rewrite
}

/** The document of a step that values come from, and the one that they go to. */
export const sidesOf = <Side>(
  { direction }: Pick<TranslationStep, 'direction'>,
  old: Side,
  next: Side,
): [Side, Side] => (direction === 'up' ? [old, next] : [next, old])

export const SAME: Rewrite = { kind: 'same' }

/** @returns the lenses on schemas that name one of the components. */
export function lensesOn(step: TranslationStep, owners: ReadonlySet<string>): LensAt<SchemaLens>[] {
  return step.lenses.filter(
    (each): each is LensAt<SchemaLens> =>
      'schemas' in each.lens && each.lens.schemas.some((name) => owners.has(name)),
  )
}

/** @returns the members that have other names, from one version's to the other's. */
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

/** @returns the lens that says what stands for null in the place of a whole component, in the direction of the step. */
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
