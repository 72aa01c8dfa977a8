/** Where two JSON values differ. */

export interface JsonDifference {
  /** `data[0].merchant.category_code`; members of lists by their identifier, where they have one: `data[pass_1].name`. */
  readonly path: string
  /** Undefined where there is nothing. */
  readonly before: unknown
  readonly after: unknown
}

type ComparedMembers = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is ComparedMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** @param most so many are found; further ones are not looked for. */
export function findDifferences(before: unknown, after: unknown, most: number): readonly JsonDifference[] {
  const found: JsonDifference[] = []
  compare('', before, after, found, most)
  return found
}

function compare(path: string, before: unknown, after: unknown, found: JsonDifference[], most: number): void {
  if (found.length >= most || Object.is(before, after)) return
  const [one, other] = [membersOf(before, after), membersOf(after, before)]
  if (!one || !other) {
    found.push({ path, before, after })
    return
  }
  for (const name of new Set([...one.keys(), ...other.keys()])) {
    const inside = Array.isArray(before) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    compare(inside, one.get(name), other.get(name), found, most)
  }
}

/** Members by name, place or identifier; undefined for what has none, or is not of the kind of the other. */
function membersOf(value: unknown, other: unknown): ReadonlyMap<string, unknown> | undefined {
  if (isObject(value) && isObject(other)) return new Map(Object.entries(value))
  if (!Array.isArray(value) || !Array.isArray(other)) return undefined
  const byId = isIdentified(value) && isIdentified(other)
  return new Map(
    value.map((each, index) => [byId ? String((each as ComparedMembers).id) : String(index), each]),
  )
}

/** Whether a list can be compared by identifiers: what is left out of it does not move the rest. */
function isIdentified(list: readonly unknown[]): boolean {
  const ids = list.map((each) => (isObject(each) && typeof each.id === 'string' ? each.id : undefined))
  return !ids.includes(undefined) && new Set(ids).size === ids.length
}
