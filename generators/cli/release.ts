/** The version and the commit of this package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns a text such as `0.1.0 (commit 1a2b3c4d5e6f)`. Only released packages have the commit, in the property `gitHead` of npm. */
export function describeRelease(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const { version, gitHead = '' }: { readonly version: string; readonly gitHead?: string } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  return /^[0-9a-f]{40}$/.test(gitHead)
    ? `${version} (commit ${gitHead.slice(0, 12)})`
    : `${version} (a checkout)`
}
