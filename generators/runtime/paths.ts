/** Values by the path of property names that leads to them. What is given is not changed. */

type Path = readonly string[]
// biome-ignore lint/suspicious/noExplicitAny: what stands there is known to whoever asks
type Values = any

/** @returns what stands at the path; undefined where something on the way is no object. */
export function take(value: Values, path: Path): Values {
  let at = value
  for (const name of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = at[name]
  }
  return at
}

/** @returns a copy with something at the path. What is no object on the way becomes one. */
export function put(value: Values, path: Path, it: unknown): Values {
  const [name, ...rest] = path
  if (name === undefined) return it
  const inner = take(value, [name])
  return { ...(typeof value === 'object' ? value : {}), [name]: put(inner, rest, it) }
}

/** @returns a copy without what stands at the path. */
export function without(value: Values, path: Path): Values {
  const [name, ...rest] = path
  if (name === undefined || take(value, path) === undefined) return value
  if (rest.length > 0) return { ...value, [name]: without(value[name], rest) }
  const { [name]: _, ...others } = value
  return others
}
