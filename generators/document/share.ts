/** Versions of a document differ in a few lines: what they have in common is kept in memory once. */

/**
 * @param known another version's document.
 * @param value a document that nobody else has yet; members of it are replaced by equal ones of the other.
 * @returns the known one where both are equal, member for member and in the same order.
 */
export function shareEqual<Value>(known: unknown, value: Value): Value {
  return share(known, value) as Value
}

function share(known: unknown, value: unknown): unknown {
  if (Object.is(known, value)) return known
  if (!isCollection(known) || !isCollection(value) || Array.isArray(known) !== Array.isArray(value))
    return value
  const names = Object.keys(value)
  const others = Object.keys(known)
  let same = names.length === others.length
  for (const [index, name] of names.entries()) {
    if (name !== others[index]) same = false
    const mine = value[name]
    const theirs = Object.hasOwn(known, name) ? known[name] : undefined
    const shared = share(theirs, mine)
    if (!Object.is(shared, theirs)) same = false
    // An assignment to `__proto__` would be no member.
    else if (name !== '__proto__') value[name] = shared
  }
  return same ? known : value
}

const isCollection = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
