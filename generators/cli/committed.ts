/** Reads documents as they were before uncommitted edits. */
import { spawnSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { createReport } from '../diagnostics/diagnostic.ts'
import { joinParts, type ReadPart } from '../document/join-parts.ts'
import type { RemoteReferences } from '../document/parts.ts'
import { readValue } from '../document/read-yaml.ts'
import { UsageError } from './run.ts'

/**
 * Returns the operation ids of the newest committed document at git's HEAD.
 *
 * @param documents oldest first.
 * @param remoteReferences as in the configuration.
 * @throws UsageError if git has none of the documents.
 */
export function committedOperations(
  documents: readonly string[],
  remoteReferences?: RemoteReferences,
): ReadonlySet<string> {
  for (const file of [...documents].reverse()) {
    const text = readCommitted(file)
    if (text === undefined) continue
    const json = readValue(text)?.value
    if (typeof json === 'object' && json !== null)
      joinParts(
        { file, text, json: json as Record<string, unknown> },
        createReport(),
        { remoteReferences },
        readCommitted,
      )
    return operationIds(json)
  }
  throw new UsageError(
    'none of the documents is committed to git, so new operations are unknown: name them, as in `dateline stub createBook`',
  )
}

const readCommitted: ReadPart = (file) => {
  const shown = spawnSync('git', ['show', `HEAD:./${basename(file)}`], {
    cwd: dirname(file),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  return shown.status === 0 ? shown.stdout : undefined
}

function operationIds(document: unknown): ReadonlySet<string> {
  const { paths = {} } = (document ?? {}) as { paths?: Record<string, Record<string, unknown>> }
  const operations = Object.values(paths).flatMap((item) => [
    ...Object.values(item ?? {}),
    ...Object.values((item?.additionalOperations ?? {}) as object),
  ])
  return new Set(operations.flatMap((each) => (each as { operationId?: string })?.operationId ?? []))
}
