/**
 * What was made before, by the hash of all it was made of: document, toolkit and dependencies. It lives on this
 * machine alone (`node_modules/.cache`), so a fresh clone does all the work itself. `DATELINE_CACHE=off` does without.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'

/** Texts by key; a lost or damaged entry is as if it had never been there. */
export interface Cache {
  read(key: string): string | undefined
  write(key: string, text: string): void
}

/** About as many entries as five families of thirty versions have; the oldest go. */
const MOST_ENTRIES = 600

const NO_CACHE: Cache = { read: () => undefined, write: () => undefined }

/** @returns the cache of the working directory. */
export function openCache(): Cache {
  if (process.env.DATELINE_CACHE === 'off') return NO_CACHE
  return createCache(existsSync('node_modules') ? 'node_modules/.cache/dateline' : '.cache/dateline')
}

/** @param folder is made when something is written. */
export function createCache(folder: string): Cache {
  return {
    read(key) {
      const file = join(folder, key)
      try {
        // gzip's checksum tells a damaged entry.
        const text = gunzipSync(readFileSync(file)).toString()
        const now = new Date()
        utimesSync(file, now, now)
        return text
      } catch {
        return undefined
      }
    },
    write(key, text) {
      const file = join(folder, key)
      const temporary = `${file}.${process.pid}.tmp`
      try {
        mkdirSync(folder, { recursive: true })
        writeFileSync(temporary, gzipSync(text, { level: 1 }))
        renameSync(temporary, file)
        prune(folder)
      } catch (error) {
        // A read-only checkout works without.
        if ((error as NodeJS.ErrnoException).code === undefined) throw error
      }
    },
  }
}

function prune(folder: string): void {
  const names = readdirSync(folder)
  if (names.length <= MOST_ENTRIES) return
  const aged = names.map((name) => ({
    name,
    at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }))
  aged.sort((a, b) => a.at - b.at)
  for (const { name } of aged.slice(0, names.length - MOST_ENTRIES / 2))
    rmSync(join(folder, name), { force: true })
}

/** SHA-256 over texts, each with its length, so that no two lists run together. */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('hex')
}

let toolkit: string | undefined

/** @returns the hash of the toolkit's own sources and of the versions of everything that it depends on. */
export function toolkitHash(): string {
  if (toolkit !== undefined) return toolkit
  const here = dirname(fileURLToPath(import.meta.url))
  const root = dirname(here)
  const installed = ['package.json', 'node_modules/.package-lock.json'].map((name) =>
    readIfThere(join(root, name)),
  )
  // `versions/` holds the lenses that changes are written with, beside the changes themselves.
  const lenses = readdirSync(join(root, 'versions')).filter((name) => name.endsWith('.ts'))
  const sources = [...filesBelow(here), ...lenses.map((name) => join(root, 'versions', name))]
  toolkit = hashOf(
    process.version,
    ...installed,
    ...sources.flatMap((file) => [file, readFileSync(file, 'utf8')]),
  )
  return toolkit
}

/** @returns all files below a folder, in code unit order; none when there is no such folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

export function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
