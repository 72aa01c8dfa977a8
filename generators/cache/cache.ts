/**
 * Caches results of earlier runs by the hash of their inputs: document, toolkit and dependencies. The cache is
 * local to the machine (`node_modules/.cache`). `DATELINE_CACHE=off` disables it.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { makeFolder } from './make-folder.ts'

/** Texts by key. A lost or damaged entry counts as a miss. */
export interface Cache {
  read(key: string): string | undefined
  write(key: string, text: string): void
}

/** Enough for about five families of thirty versions. The oldest entries are pruned first. */
const MAX_ENTRIES = 600

const NO_CACHE: Cache = { read: () => undefined, write: () => undefined }

export const isCacheOff = (): boolean => process.env.DATELINE_CACHE === 'off'

/** Returns the cache of the working directory. */
export function openCache(): Cache {
  if (isCacheOff()) return NO_CACHE
  return createCache(existsSync('node_modules') ? 'node_modules/.cache/dateline' : '.cache/dateline')
}

/** Returns a cache in a folder, which is created at the first write. */
export function createCache(folder: string): Cache {
  return {
    read(key) {
      const file = join(folder, key)
      try {
        // gzip's checksum detects a damaged entry.
        const text = gunzipSync(readFileSync(file)).toString()
        touch(file)
        return text
      } catch {
        return undefined
      }
    },
    write(key, text) {
      const file = join(folder, key)
      const temporary = `${file}.${process.pid}.tmp`
      try {
        makeCacheFolder(folder)
        writeFileSync(temporary, gzipSync(text, { level: 1 }))
        renameSync(temporary, file)
        prune(folder)
      } catch (error) {
        // In a read-only checkout, the cache stays empty.
        if ((error as NodeJS.ErrnoException).code === undefined) throw error
      }
    },
  }
}

/**
 * Marks an entry as used, so that it is pruned last. Ignores file system errors: in a read-only folder nothing is
 * pruned.
 */
function touch(file: string): void {
  const now = new Date()
  try {
    utimesSync(file, now, now)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

const IGNORES = '.gitignore'

/** Creates the folder with a file that makes Git ignore it. */
function makeCacheFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(folder)
  writeFileSync(join(folder, IGNORES), '*\n')
}

function prune(folder: string): void {
  const names = readdirSync(folder).filter((name) => name !== IGNORES)
  if (names.length <= MAX_ENTRIES) return
  const aged = names.map((name) => ({
    name,
    at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }))
  aged.sort((a, b) => a.at - b.at)
  for (const { name } of aged.slice(0, names.length - MAX_ENTRIES / 2))
    rmSync(join(folder, name), { force: true })
}

/**
 * Returns the SHA-256 of several texts. Each is prefixed with its length, so that different lists never hash the
 * same input.
 */
export function hashOf(...texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('hex')
}

/** Reused buffer: files are read in pieces, so that large files need no more memory. */
let piece: Buffer | undefined
const PIECE = 1 << 20

/** Returns the SHA-256 of a file in hexadecimal, or undefined if the file does not exist. */
export function hashFile(file: string): string | undefined {
  piece ??= Buffer.allocUnsafeSlow(PIECE)
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, 'r')
    const hash = createHash('sha256')
    for (let length = PIECE; length > 0; ) {
      length = readSync(descriptor, piece, 0, PIECE, null)
      hash.update(piece.subarray(0, length))
    }
    return hash.digest('hex')
  } catch (cause) {
    if (isNoFile(cause)) return undefined
    throw cause
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Returns whether an error means that there is no file of that name. */
export function isNoFile(cause: unknown): boolean {
  return ['ENOENT', 'EISDIR', 'ENOTDIR', 'ELOOP'].includes((cause as NodeJS.ErrnoException).code ?? '')
}

let toolkit: string | undefined

/** Returns the folder of the toolkit. */
export const toolkitFolder = (): string => resolve(fileURLToPath(new URL('..', import.meta.url)))

/** Returns a hash of the toolkit's sources and of the versions of its dependencies. */
export function toolkitHash(): string {
  if (toolkit !== undefined) return toolkit
  const own = toolkitFolder()
  const root = dirname(own)
  const installed = ['package.json', 'node_modules/.package-lock.json'].map((name) =>
    readIfThere(join(root, name)),
  )
  const sources = filesBelow(own).filter((file) => !relative(own, file).includes('node_modules'))
  toolkit = hashOf(
    process.version,
    ...installed,
    ...sources.flatMap((file) => [file, readFileSync(file, 'utf8')]),
  )
  return toolkit
}

/** Lists all files below a folder in code unit order; empty if the folder does not exist. Follows links. */
export function filesBelow(folder: string): string[] {
  const seen = new Set<string>()
  const find = (at: string): string[] => {
    const real = existsSync(at) ? realpathSync(at) : undefined
    if (real === undefined || seen.has(real) || !statSync(at).isDirectory()) return []
    seen.add(real)
    return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
      const path = join(at, entry.name)
      if (entry.isFile()) return [path]
      const isFile = entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isFile()
      return isFile ? [path] : find(path)
    })
  }
  return find(folder).sort()
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
