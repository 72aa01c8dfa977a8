/** Resolves references in the document as plain JSON. */
import type { Api } from './model.ts'

/** Returns the value that a reference leads to, or undefined if it is unresolvable or external. */
export function lookUp({ document }: Api, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let at: unknown = document
  for (const token of ref.slice(2).split('/')) {
    const name = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Readonly<Record<string, unknown>>)[name]
  }
  return at
}
