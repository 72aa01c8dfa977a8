/**
 * Output that a repository need not hold: large files that follow from the documents alone. `builtWhenNeeded` of the
 * configuration names their emitters. The manifest lists their hashes, so that they are the same wherever they are built.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashFile, isNoFile } from '../cache/cache.ts'
import { MANIFEST, owns, parseManifest } from './manifest.ts'

/** Which paths of output are from each of these emitters. */
const BUILT_FILES = {
  documents: /^[^/]+\/openapi\.json$/,
  site: /^site\/./,
} as const

export type BuiltEmitter = keyof typeof BUILT_FILES

/** Emitters whose output can be left out of a repository. */
export const BUILT_EMITTERS = Object.keys(BUILT_FILES) as readonly BuiltEmitter[]

/** @returns which of the emitters a path of output is from; undefined where it is from none. */
export function builtBy(path: string, emitters: readonly BuiltEmitter[]): BuiltEmitter | undefined {
  return emitters.find((each) => BUILT_FILES[each].test(path))
}

/**
 * @returns the paths that the manifest lists and the folder does not have as it says; undefined where there is no
 * manifest, since nothing was generated yet.
 */
export function findUnbuilt(out: string, emitters: readonly BuiltEmitter[]): string[] | undefined {
  const manifest = readManifest(out)
  if (!manifest) return undefined
  return [...manifest.keys()].filter((path) => {
    if (builtBy(path, emitters) === undefined) return false
    const hash = hashFile(join(out, path))
    return hash === undefined || !owns(manifest, path, hash)
  })
}

/** @returns what a folder's manifest lists; undefined where it has none of ours. */
export function readManifest(out: string): ReturnType<typeof parseManifest> {
  try {
    return parseManifest(readFileSync(join(out, MANIFEST), 'utf8'))
  } catch (cause) {
    if (isNoFile(cause)) return undefined
    throw cause
  }
}
