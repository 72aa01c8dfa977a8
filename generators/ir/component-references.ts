/** Resolves schema references to component names, directly or through other references. */
import { unescapePointer } from '../document/escape-pointer.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { isObject, type ObjectValue, type Source } from './source.ts'

const COMPONENT = /^#?\/components\/schemas\/([^/]+)$/

/**
 * Returns the name of the component that a schema's reference leads to, following objects that are only references.
 */
export function componentAt({ value, reader }: Source, ref: string): string | undefined {
  const { references, document } = reader
  const seen = new Set<string>()
  let at = references.pointerOf(value as ObjectValue, ref)
  while (at !== undefined && !seen.has(at)) {
    const name = COMPONENT.exec(at)?.[1]
    // Percent signs are literal here, because the reference's fragment is already decoded.
    if (name !== undefined) return name.replaceAll('~1', '/').replaceAll('~0', '~')
    seen.add(at)
    const target = lookUp(document.json, at)
    if (!isObject(target) || typeof target.$ref !== 'string') return undefined
    at = references.pointerOf(target, target.$ref)
  }
  return undefined
}

/**
 * Returns the name of the component schema that a reference points to, or undefined if it points inside one or
 * elsewhere.
 */
export function componentOf(ref: string): string | undefined {
  const name = COMPONENT.exec(ref)?.[1]
  return name && unescapePointer(name)
}
