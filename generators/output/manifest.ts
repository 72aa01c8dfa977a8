/** The manifest lists what earlier runs wrote to an output folder. Other files are never overwritten or removed. */
import { hash } from 'node:crypto'
import type { OutputFile } from '../ir/model.ts'

/** The manifest is in the output folder, next to the files that it lists. */
export const MANIFEST = 'manifest.json'

/**
 * Hashes by path. During a run, a path has one hash for each text that it may hold if the run is killed;
 * afterwards, it has exactly one.
 */
export type Manifest = ReadonlyMap<string, readonly string[]>

/** Returns the entries of a manifest, or undefined if the text is not a valid manifest. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const { files } = JSON.parse(text) as { files?: unknown }
    if (typeof files !== 'object' || files === null) return undefined
    // An older format lists only paths. Such files may be replaced but not removed.
    if (Array.isArray(files)) return new Map(files.map((path) => [String(path), []]))
    return new Map(Object.entries(files).map(([path, hashes]) => [path, String(hashes).split(' ')]))
  } catch {
    return undefined
  }
}

/** Returns the manifest of the given files. */
export function manifestOf(files: readonly OutputFile[]): Manifest {
  return new Map(files.map(({ path, text }) => [path, [hashOf(text)]]))
}

/** Returns a manifest with the entries of both. */
export function mergeManifests(one: Manifest, other: Manifest): Manifest {
  const merged = new Map(one)
  for (const [path, hashes] of other) merged.set(path, [...new Set([...(one.get(path) ?? []), ...hashes])])
  return new Map([...merged].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function printManifest(manifest: Manifest): string {
  const files = Object.fromEntries([...manifest].map(([path, hashes]) => [path, hashes.join(' ')]))
  return `${JSON.stringify({ files }, null, 2)}\n`
}

/**
 * Returns whether a file is as an earlier run wrote it.
 *
 * @param hash SHA-256 of its bytes in hexadecimal.
 */
export function owns(manifest: Manifest, path: string, hash: string): boolean {
  return manifest.get(path)?.includes(hash.slice(0, LENGTH)) ?? false
}

/** Half of a SHA-256 is enough to detect an edited file. */
const LENGTH = 32

const hashOf = (text: string): string => hash('sha256', text).slice(0, LENGTH)
