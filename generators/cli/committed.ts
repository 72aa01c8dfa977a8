/** Reads documents as they were before uncommitted edits. */
import { spawnSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { readValue } from '../document/read-yaml.ts'
import { UsageError } from './run.ts'

/**
 * Returns the operation ids of the newest committed document at git's HEAD.
 *
 * @param documents oldest first.
 * @throws UsageError if git has none of the documents.
 */
export function committedOperations(documents: readonly string[]): ReadonlySet<string> {
  for (const file of [...documents].reverse()) {
    const shown = spawnSync('git', ['show', `HEAD:./${basename(file)}`], {
      cwd: dirname(file),
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    })
    if (shown.status === 0) return operationIds(readValue(shown.stdout)?.value)
  }
  throw new UsageError(
    'none of the documents is committed to git, so new operations are unknown: name them, as in `dateline stub createBook`',
  )
}

function operationIds(document: unknown): ReadonlySet<string> {
  const { paths = {} } = (document ?? {}) as { paths?: Record<string, Record<string, unknown>> }
  const operations = Object.values(paths).flatMap((item) => Object.values(item ?? {}))
  return new Set(operations.flatMap((each) => (each as { operationId?: string })?.operationId ?? []))
}
