/** Suggests an operation for a request whose version has no matching one. */

import { findNearest } from 'dateline/runtime/nearest'
import { splitPath } from 'dateline/runtime/path-matcher'
import { didYouMean } from './explanation.ts'
import type { Versions, VersionTable } from './version-table.ts'

/**
 * Names the versions that have the operation, or the most similar path of this version. Does not look up any
 * identifiers, so the message reveals nothing about objects.
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
    const lifetime =
      all.indexOf(first) > all.indexOf(version)
        ? `exists since version ${first.name}`
        : `existed until version ${last.name}`
    const { operation } = first.matcher.match(path)!.routes.get(method)!
    return `${method} ${operation.path} ${lifetime}. This request uses version ${version.name}.`
  }
  return `There is no such operation${didYouMean(findNearestPath(path, version.paths))}.`
}

/** Finds a path with the same number of segments whose words are equal or similar to those in the request. */
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
