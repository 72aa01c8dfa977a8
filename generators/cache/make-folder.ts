import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents. Throws ENOENT if a relative path's working directory was deleted; in
 * that case, `mkdirSync` with `recursive` never returns (Node 24).
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    // A concurrent run created the folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
