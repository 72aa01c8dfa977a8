/**
 * Records which changes had an effect during a translation. Generated code calls these functions wherever a change may
 * have an effect. A value that is the same in both versions records nothing. Names of changes start with the version
 * that introduced them: `2026-05-19/block-categories`.
 */
import type { Translate } from './contract.ts'
import { isSameValue } from './same-value.ts'

/** Changes recorded by the current translation. Translations are synchronous, so only one runs at a time. */
const noted = new Set<string>()

/** Translates a value. Calls `note` once for each change that had an effect. */
export function translateNoting(
  translate: Translate,
  value: unknown,
  note: (change: string) => void,
): unknown {
  if (noted.size > 0) noted.clear()
  // The route pairs functions with values; the types do not.
  const translated = translate(value as never)
  for (const change of noted) note(change)
  return translated
}

/** Records the change if the value is defined. Returns the value. */
export function touched<Brought>(change: string, value: Brought): Brought {
  if (value !== undefined) noted.add(change)
  return value
}

/** Records the change if the two values differ. Returns the value after the change. */
export function turned<Turned>(change: string, before: unknown, after: Turned): Turned {
  if (!isSameValue(before, after)) noted.add(change)
  return after
}

/** Records that a value is ignored, and returns undefined. @param usual a value that means the same as its absence. */
export function ignored(change: string, value: unknown, usual?: unknown): undefined {
  if (value !== undefined && value !== usual) noted.add(change)
}

/** The type of an enumeration value after renaming. */
export type Renamed<Member, Names extends readonly Name[]> = Member extends Names[number][0]
  ? Extract<Names[number], readonly [Member, string]>[1]
  : Member

/** A name, and its name in the other version. */
type Name = readonly [name: string, other: string]

/** Returns a translation that renames enumeration values. */
export function renames<const Names extends readonly Name[]>(
  change: string,
  names: Names,
): <Member>(member: Member) => Renamed<Member, Names> {
  const table = new Map<unknown, string>(names)
  return <Member>(member: Member) => {
    const name = table.get(member)
    return (name === undefined ? member : touched(change, name)) as Renamed<Member, Names>
  }
}

/** A filter value, and the values that it matches in the other version. */
type Meaning = readonly [value: string, meant: readonly string[]]

/** The type of the values that a filter value matches: the value itself, if it is not listed. */
export type Meant<Value, Meanings extends readonly Meaning[]> = Value extends Meanings[number][0]
  ? Extract<Meanings[number], readonly [Value, readonly string[]]>[1][number]
  : Value

/** Returns a function that maps a filter value to the values that it matches in the other version. */
export function meanings<const Meanings extends readonly Meaning[]>(
  change: string,
  values: Meanings,
): <Value>(value: Value) => readonly Meant<Value, Meanings>[] {
  const table = new Map<unknown, readonly string[]>(values)
  return <Value>(value: Value) => {
    const all = table.get(value)
    return (all ? touched(change, all) : [value]) as readonly Meant<Value, Meanings>[]
  }
}

/** Tests whether a version has a kind, which is false for the kinds that the change added. */
export type KindGuard<Added> = <Kind>(kind: Kind) => kind is Exclude<Kind, Added>

/** Returns a filter that removes the kinds that the change added. */
export function allBut<const Added>(change: string, added: readonly Added[]): KindGuard<Added> {
  const left = new Set<unknown>(added)
  return <Kind>(kind: Kind): kind is Exclude<Kind, Added> => {
    if (!left.has(kind)) return true
    noted.add(change)
    return false
  }
}

/** Returns the same test for records, whose kind is in a property. */
export function holding<const Name extends string, Added>(property: Name, isKnown: KindGuard<Added>) {
  return <Item extends { readonly [Key in Name]: unknown }>(
    item: Item,
  ): item is Item & { readonly [Key in Name]: Exclude<Item[Name], Added> } => isKnown(item[property])
}
