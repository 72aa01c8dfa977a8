/** The document as plain JSON: what a reference in it leads to. */
import type { Api } from './model.ts'

/** @returns undefined where the reference leads nowhere, or out of the document. */
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
