/** Shares equal values between versions of a document in memory, because versions differ in only a few lines. */

/**
 * Replaces members of a document with equal members of a different version.
 *
 * @param known the document of the other version.
 * @param value a document that no other code holds yet; it is modified.
 * @returns `known` if both are equal, including the order of members.
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
    // Assigning to `__proto__` would set the prototype instead of a member.
    else if (name !== '__proto__') value[name] = shared
  }
  return same ? known : value
}

const isCollection = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
