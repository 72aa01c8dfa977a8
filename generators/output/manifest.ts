/** What earlier runs wrote into an output folder: nothing else there is ever overwritten or removed. */
import { hash } from 'node:crypto'
import type { OutputFile } from '../ir/model.ts'

/** Stands in the output folder, beside what it lists. */
export const MANIFEST = 'manifest.json'

/**
 * Hashes by path. While a run writes, a path has one hash for each text that it may hold when the run is killed;
 * afterwards it has one.
 */
export type Manifest = ReadonlyMap<string, readonly string[]>

/** @returns what a manifest's text lists; undefined for a file that is no manifest of ours. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const { files } = JSON.parse(text) as { files?: unknown }
    if (typeof files !== 'object' || files === null) return undefined
    // A list of paths alone, as it was written once: what it lists may be replaced, but not removed.
    if (Array.isArray(files)) return new Map(files.map((path) => [String(path), []]))
    return new Map(Object.entries(files).map(([path, hashes]) => [path, String(hashes).split(' ')]))
  } catch {
    return undefined
  }
}

/** @returns the manifest of exactly these files. */
export function manifestOf(files: readonly OutputFile[]): Manifest {
  return new Map(files.map(({ path, text }) => [path, [hashOf(text)]]))
}

/** @returns a manifest that lists what either lists. */
export function mergeManifests(one: Manifest, other: Manifest): Manifest {
  const merged = new Map(one)
  for (const [path, hashes] of other) merged.set(path, [...new Set([...(one.get(path) ?? []), ...hashes])])
  return new Map([...merged].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function printManifest(manifest: Manifest): string {
  const files = Object.fromEntries([...manifest].map(([path, hashes]) => [path, hashes.join(' ')]))
  return `${JSON.stringify({ files }, null, 2)}\n`
}

/** Whether a file is as an earlier run wrote it. @param hash SHA-256 of its bytes, hex. */
export function owns(manifest: Manifest, path: string, hash: string): boolean {
  return manifest.get(path)?.includes(hash.slice(0, LENGTH)) ?? false
}

/** Half of a SHA-256 is enough to tell an edited file from one that is not. */
const LENGTH = 32

const hashOf = (text: string): string => hash('sha256', text).slice(0, LENGTH)
