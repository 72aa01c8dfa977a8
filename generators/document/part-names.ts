/** Names the components that values in other files become. */
import { dirname, relative } from 'node:path'
import { unescapePointer } from './escape-pointer.ts'

/** A value in a file, with its name if the root document gives it one. */
interface Unnamed {
  readonly part: { readonly file: string }
  readonly pointer: string
  readonly name?: string
}

/** Keywords that contain values by name or number, and are not names themselves. */
const KEYWORDS =
  /^(?:components|schemas|parameters|headers|responses|requestBodies|examples|links|callbacks|securitySchemes|definitions|\$defs|properties|patternProperties|items|prefixItems|allOf|oneOf|anyOf|content|schema|paths|\d+)$/

/** Beginnings of pointers to values that have a name of their own, without their file. */
const NAMED = /^(?:\/components\/[^/]+|\/definitions|\/\$defs)?\/[^/]+$/

/**
 * Names values after the last part of their pointer, or their file. Values that would get the same name, or that of a
 * component of the root document, are all named after their file too, then after its folders: so a name does not depend
 * on the order of references.
 *
 * @param taken names of components in the root document.
 */
export function componentNames<Value extends Unnamed>(
  values: readonly Value[],
  taken: ReadonlySet<string>,
  root: string,
): Map<Value, string> {
  const names = new Map<Value, string>()
  const used = new Set(taken)
  for (const value of values) if (value.name !== undefined) names.set(value, value.name)
  const waiting = values.filter(({ name }) => name === undefined)
  let pending = waiting
    .map((value) => ({ value, candidates: candidatesOf(value, dirname(root)) }))
    .sort((a, b) => (keyOf(a.value) < keyOf(b.value) ? -1 : 1))
  for (let level = 0; pending.length > 0; level++) {
    const numbered = pending.every(({ candidates }) => level >= candidates.length)
    const nameOf = ({ candidates }: (typeof pending)[number]) =>
      candidates[Math.min(level, candidates.length - 1)]!
    const wanted = new Map<string, number>()
    for (const each of pending) wanted.set(nameOf(each), (wanted.get(nameOf(each)) ?? 0) + 1)
    const isClear = (name: string) => numbered || (!used.has(name) && wanted.get(name) === 1)
    const clear = new Set(pending.filter((each) => isClear(nameOf(each))))
    for (const each of clear) {
      let name = nameOf(each)
      for (let number = 2; used.has(name); number++) name = `${nameOf(each)}_${number}`
      used.add(name)
      names.set(each.value, name)
    }
    pending = pending.filter((each) => !clear.has(each))
  }
  return names
}

const keyOf = ({ part, pointer }: Unnamed): string => `${part.file}#${pointer}`

/** Returns names from short to long: `Pet`, `models_Pet`, `shop_models_Pet`. */
function candidatesOf({ part, pointer }: Unnamed, folder: string): string[] {
  const path = relative(folder, part.file)
    .replace(/\.[^./\\]+$/, '')
    .split(/[\\/]/)
  const outer = path.filter((each) => each !== '..' && each !== '' && !/^_?index$/.test(each))
  const words = pointer
    .split('/')
    .slice(1)
    .map(unescapePointer)
    .filter((each) => !KEYWORDS.test(each))
  const isShort = NAMED.test(pointer) && words.length > 0
  return Array.from({ length: outer.length + 1 }, (_, level) =>
    [...outer.slice(outer.length - level), ...words]
      .map((word) => word.replaceAll(/[^\w.-]+/g, '_').replaceAll(/^_+|_+$/g, ''))
      .filter((word) => word !== '')
      .join('_'),
  ).filter((name, level) => name !== '' && (level > 0 || isShort))
}
