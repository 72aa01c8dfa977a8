/** Copies files, and computes their checksums in the same pass. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../errors.ts'
import type { FileRecord } from './backup-folder.ts'

const CHUNK_BYTES = 1024 * 1024

/** Number of files that are copied at the same time. */
const AT_ONCE = 8

/**
 * Copies a file. Returns undefined if the source does not exist. The source may change or shrink meanwhile: WAL replay repairs
 * that.
 */
export async function copyFile(source: string, target: string): Promise<FileRecord | undefined> {
  let from: FileHandle
  try {
    from = await open(source, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const to = await open(target, 'wx', 0o600)
    try {
      const hash = createHash('sha256')
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      let size = 0
      for (;;) {
        const { bytesRead } = await from.read(chunk, 0, CHUNK_BYTES, size)
        if (bytesRead === 0) break
        const part = chunk.subarray(0, bytesRead)
        hash.update(part)
        await to.writeFile(part)
        size += bytesRead
      }
      return { size, sha256: hash.digest('hex') }
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

/** Writes everything in the file system of a folder to the disk, which takes much less time than one fsync for each file. */
export async function syncFiles(folder: string): Promise<void> {
  const run = promisify(execFile)
  // Only the GNU program has the option; others write all file systems.
  await run('sync', ['-f', folder]).catch(() => run('sync'))
}

/** Files and folders below a folder, as paths relative to it. */
export interface FolderEntries {
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/**
 * Lists a folder with its subfolders.
 * @param isWanted decides about each entry; the content of an unwanted folder is left out.
 */
export async function listFolder(root: string, isWanted: (path: string) => boolean): Promise<FolderEntries> {
  const folders: string[] = []
  const files: string[] = []
  const read = (below: string) =>
    readdir(join(root, below), { withFileTypes: true }).catch((error) => {
      if (codeOf(error) === 'ENOENT') return [] // for example a database that was dropped meanwhile
      throw error
    })
  const walk = async (below: string): Promise<void> => {
    for (const entry of await read(below)) {
      const path = join(below, entry.name)
      if (!isWanted(path)) continue
      if (entry.isDirectory()) {
        folders.push(path)
        await walk(path)
      } else if (entry.isFile()) files.push(path)
    }
  }
  await walk('')
  return { folders, files }
}

/**
 * Copies files below one folder to another. Calls back with each copy, and with undefined for a file that is gone. Rejects
 * with the first error when no copy is running any more.
 */
export async function copyFiles(
  paths: readonly string[],
  source: string,
  target: string,
  copied: (path: string, record: FileRecord | undefined) => void,
): Promise<void> {
  const queue = paths.values()
  let failure: { readonly error: unknown } | undefined
  const work = async () => {
    for (const path of queue) {
      if (failure) return
      try {
        await mkdir(dirname(join(target, path)), { recursive: true, mode: 0o700 })
        copied(path, await copyFile(join(source, path), join(target, path)))
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (failure) throw failure.error
}
