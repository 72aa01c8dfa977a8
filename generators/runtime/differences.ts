/** Finds the differences between two JSON values. */

export interface JsonDifference {
  /** For example, `data[0].author.name`. List items with an `id` use it as their index: `data[book_1].name`. */
  readonly path: string
  /** Undefined if the value does not exist on this side. */
  readonly before: unknown
  readonly after: unknown
}

type ComparedMembers = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is ComparedMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the differences. @param most stops after this number of differences. */
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

/** Returns the members by name, index, or ID. Undefined unless both values are objects or both are arrays. */
function membersOf(value: unknown, other: unknown): ReadonlyMap<string, unknown> | undefined {
  if (isObject(value) && isObject(other)) return new Map(Object.entries(value))
  if (!Array.isArray(value) || !Array.isArray(other)) return undefined
  const byId = isIdentified(value) && isIdentified(other)
  return new Map(
    value.map((each, index) => [byId ? String((each as ComparedMembers).id) : String(index), each]),
  )
}

/** Whether every item has a unique `id`. Comparison by ID is not thrown off by an added or removed item. */
function isIdentified(list: readonly unknown[]): boolean {
  const ids = list.map((each) => (isObject(each) && typeof each.id === 'string' ? each.id : undefined))
  return !ids.includes(undefined) && new Set(ids).size === ids.length
}
