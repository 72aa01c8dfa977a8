/**
 * Output that need not be committed: large files that derive only from the documents. `builtWhenNeeded` in the
 * configuration names their emitters. The manifest lists their hashes, so a build gives the same files on every
 * machine.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashFile, isNoFile } from '../cache/cache.ts'
import { MANIFEST, owns, parseManifest } from './manifest.ts'

/** Output paths of each of these emitters. */
const BUILT_FILES = {
  documents: /^[^/]+\/openapi\.json$/,
  site: /^site\/./,
} as const

export type BuiltEmitter = keyof typeof BUILT_FILES

/** Emitters whose output need not be committed. */
export const BUILT_EMITTERS = Object.keys(BUILT_FILES) as readonly BuiltEmitter[]

/** Returns the emitter that an output path belongs to, or undefined if it belongs to none of them. */
export function builtBy(path: string, emitters: readonly BuiltEmitter[]): BuiltEmitter | undefined {
  return emitters.find((each) => BUILT_FILES[each].test(path))
}

/**
 * Returns the listed paths whose files are missing or differ from the manifest, or undefined if there is no
 * manifest because nothing has been generated yet.
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

/** Returns the entries of a folder's manifest, or undefined if the folder has no valid manifest. */
export function readManifest(out: string): ReturnType<typeof parseManifest> {
  try {
    return parseManifest(readFileSync(join(out, MANIFEST), 'utf8'))
  } catch (cause) {
    if (isNoFile(cause)) return undefined
    throw cause
  }
}
