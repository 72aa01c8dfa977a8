/** What a caller probably wanted whose request names no operation of its version. Asked only when there is none. */

import { findNearest } from 'dateline/runtime/nearest'
import { splitPath } from 'dateline/runtime/path-matcher'
import { didYouMean } from './explanation.ts'
import type { Versions, VersionTable } from './version-table.ts'

/**
 * Says when other versions have the operation, or which path of this version is nearest. Says nothing of objects: what
 * identifiers in the path name is not looked at.
 */
export function describeMissing(
  { all }: Versions,
  version: VersionTable,
  method: string,
  path: string,
): string {
  const having = all.filter(({ matcher }) => matcher.match(path)?.routes.has(method))
  const [first] = having
  if (first) {
    const last = having.at(-1)!
    const told =
      all.indexOf(first) > all.indexOf(version) ? `exists since ${first.name}` : `existed until ${last.name}`
    const { operation } = first.matcher.match(path)!.routes.get(method)!
    return `${method} ${operation.path} ${told}; this request was made in ${version.name}.`
  }
  return `There is no such operation here${didYouMean(findNearestPath(path, version.paths))}.`
}

/** The path of as many segments whose words are those that were sent, or nearly. */
function findNearestPath(path: string, known: readonly string[]): string | undefined {
  const segments = splitPath(path)
  const fits = (template: string) => {
    const wanted = splitPath(template)
    return (
      wanted.length === segments.length &&
      wanted.every(
        (word, index) => word.startsWith('{') || findNearest(segments[index]!, [word]) !== undefined,
      )
    )
  }
  return findNearest(path, known.filter(fits)) ?? known.find(fits)
}
