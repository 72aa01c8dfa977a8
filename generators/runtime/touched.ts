/**
 * What translations change, told by name. Generated code calls the functions below where a change may make a difference, and each
 * notes its change where it did: a value that is the same in both versions notes nothing. Changes are named as
 * `2026-05-19/block-categories`, by the version that brought them.
 */
import type { Translate } from './contract.ts'

/** What the translation under way has changed so far: translations are synchronous, so there is one at a time. */
const noted = new Set<string>()

/**
 * Translates a value and gives each change that made a difference, once.
 *
 * @param value valid in the version that the function translates from.
 */
export function translateNoting(
  translate: Translate,
  value: unknown,
  note: (change: string) => void,
): unknown {
  if (noted.size > 0) noted.clear()
  // Which function belongs to the value is known from the route, not from types.
  const translated = translate(value as never)
  for (const change of noted) note(change)
  return translated
}

/** The value, which the change brought to where it goes; undefined is nothing that was brought. */
export function touched<Brought>(change: string, value: Brought): Brought {
  if (value !== undefined) noted.add(change)
  return value
}

/** What a function of the change made of a value. */
export function turned<Turned>(change: string, before: unknown, after: Turned): Turned {
  if (!isSame(before, after)) noted.add(change)
  return after
}

/** Undefined, in the place of a value that is left unread. @param usual what it means there all the same. */
export function ignored(change: string, value: unknown, usual?: unknown): undefined {
  if (value !== undefined && value !== usual) noted.add(change)
}

/** A member of an enumeration under its other name, if it has one. */
export type Renamed<Member, Names extends readonly Name[]> = Member extends Names[number][0]
  ? Extract<Names[number], readonly [Member, string]>[1]
  : Member

/** A name and what it is called in the other version. */
type Name = readonly [name: string, other: string]

/** @returns a function that gives members of an enumeration their other names. */
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

/** A value of a filter and all values that it means in the other version. */
type Meaning = readonly [value: string, meant: readonly string[]]

/** What a value of a filter means: itself, if it is not listed. */
export type Meant<Value, Meanings extends readonly Meaning[]> = Value extends Meanings[number][0]
  ? Extract<Meanings[number], readonly [Value, readonly string[]]>[1][number]
  : Value

/** @returns a function that gives all values which a value of a filter means. */
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

/** Whether a version knows a kind: it does not know those that came with the change. */
export type KindGuard<Added> = <Kind>(kind: Kind) => kind is Exclude<Kind, Added>

/** @param added the kinds that came with the change. */
export function allBut<const Added>(change: string, added: readonly Added[]): KindGuard<Added> {
  const left = new Set<unknown>(added)
  return <Kind>(kind: Kind): kind is Exclude<Kind, Added> => {
    if (!left.has(kind)) return true
    noted.add(change)
    return false
  }
}

/** The same of records that hold their kind in a property. */
export function holding<const Name extends string, Added>(property: Name, isKnown: KindGuard<Added>) {
  return <Item extends { readonly [Key in Name]: unknown }>(
    item: Item,
  ): item is Item & { readonly [Key in Name]: Exclude<Item[Name], Added> } => isKnown(item[property])
}

/** Whether two values are the same JSON. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const [left, right] = [one, other] as Readonly<Record<string, unknown>>[]
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(left![name], right![name]))
  )
}
