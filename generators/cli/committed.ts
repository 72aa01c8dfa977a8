/** What a document was before the edits that are not committed yet. */
import { spawnSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { readValue } from '../document/read-yaml.ts'
import { UsageError } from './run.ts'

/**
 * @param documents oldest first; the newest that is committed counts.
 * @returns the ids of its operations at git's HEAD. @throws UsageError where git knows none of the documents.
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
    'git has no earlier version of the documents: name the operations, `stub createBook …`',
  )
}

function operationIds(document: unknown): ReadonlySet<string> {
  const { paths = {} } = (document ?? {}) as { paths?: Record<string, Record<string, unknown>> }
  const operations = Object.values(paths).flatMap((item) => Object.values(item ?? {}))
  return new Set(operations.flatMap((each) => (each as { operationId?: string })?.operationId ?? []))
}
