/** What references to schemas name: a component, directly or over other references. */
import { unescapePointer } from '../document/escape-pointer.ts'
import { lookUp } from '../runtime/explain/references.ts'
import { isObject, type ObjectValue, type Source } from './source.ts'

const COMPONENT = /^#?\/components\/schemas\/([^/]+)$/

/** @returns the name of the component that a schema's reference leads to, over references that are nothing else. */
export function componentAt({ value, reader }: Source, ref: string): string | undefined {
  const { references, document } = reader
  const seen = new Set<string>()
  let at = references.pointerOf(value as ObjectValue, ref)
  while (at !== undefined && !seen.has(at)) {
    const name = COMPONENT.exec(at)?.[1]
    // Percent signs stand for themselves here: the reference's fragment is decoded already.
    if (name !== undefined) return name.replaceAll('~1', '/').replaceAll('~0', '~')
    seen.add(at)
    const target = lookUp(document.json, at)
    if (!isObject(target) || typeof target.$ref !== 'string') return undefined
    at = references.pointerOf(target, target.$ref)
  }
  return undefined
}

/** @returns the name of the component schema that a reference is to, if it is to a whole one. */
export function componentOf(ref: string): string | undefined {
  const name = COMPONENT.exec(ref)?.[1]
  return name && unescapePointer(name)
}
