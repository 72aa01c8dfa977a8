/** The service's tarball. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The service with its sources, its documentation and the deployment files. */
const SERVICE = [
  ...['package.json', 'package-lock.json', '.npmrc', 'dateline.config.json', 'test/bench/package.json'],
  ...['LICENSE', 'README.md', 'CHANGELOG.md', 'GLOSSARY.md', 'SECURITY.md'],
  ...['generators', 'openapi', 'versions', 'generated', 'runtime', 'docs', 'deploy'],
]

/** Runs Git in this repository and returns its output. */
export const git = (...words: readonly string[]): Buffer =>
  execFileSync('git', words, { cwd: ROOT, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'inherit'] })

/**
 * Returns the tar file of a commit, with all files below `prefix`. `git archive` takes their times from the commit.
 * Paths that an older commit does not have are left out.
 */
export function serviceTar(ref: string, prefix: string): Buffer {
  const paths = git('ls-tree', '--name-only', ref, ...SERVICE)
    .toString()
    .trim()
    .split('\n')
  return git('archive', '--format=tar', `--prefix=${prefix}/`, ref, '--', ...paths)
}
