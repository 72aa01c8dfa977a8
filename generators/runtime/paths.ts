/** Reads and replaces values at a path of property names. The functions do not change their arguments. */

type Path = readonly string[]
// biome-ignore lint/suspicious/noExplicitAny: the caller knows the type of the value at a path
type Values = any

/** Returns the value at a path; undefined if a step on the way is not an object. */
export function take(value: Values, path: Path): Values {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

/** Returns a copy with a value at the path. Steps that are not objects become objects. */
export function put(value: Values, path: Path, it: unknown): Values {
  const [name, ...rest] = path
  if (name === undefined) return it
  const inner = take(value, [name])
  return { ...(typeof value === 'object' ? value : {}), [name]: put(inner, rest, it) }
}

/** Returns a copy without the value at the path. */
export function without(value: Values, path: Path): Values {
  const [name, ...rest] = path
  if (name === undefined || take(value, path) === undefined) return value
  if (rest.length > 0) return { ...value, [name]: without(value[name], rest) }
  const { [name]: _, ...others } = value
  return others
}
