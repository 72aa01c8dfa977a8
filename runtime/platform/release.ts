/** The version and the commit of this program. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface ProgramRelease {
  readonly version: string
  /** Git commit, 40 hexadecimal digits; undefined if it is not known. */
  readonly commit: string | undefined
}

const COMMIT = /^[0-9a-f]{40}$/

/** Reads the next `package.json` above this file. Releases have the commit in it; a checkout asks Git. */
export function readRelease(): ProgramRelease {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const manifest: { readonly version: string; readonly gitHead?: string } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const commit = [manifest.gitHead ?? '', headOf(folder)].find((each) => COMMIT.test(each))
  return { version: manifest.version, commit }
}

/** Returns the commit that is checked out in the folder, or an empty text outside a checkout or without Git. */
function headOf(folder: string): string {
  if (!existsSync(join(folder, '.git'))) return ''
  try {
    const words = ['rev-parse', 'HEAD']
    return execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return '' // a version without a commit is still useful
  }
}

/** Returns a text such as `0.1.0 (commit 1a2b3c4d5e6f)`. */
export function describeRelease({ version, commit }: ProgramRelease): string {
  return commit === undefined ? version : `${version} (commit ${commit.slice(0, 12)})`
}
