/** Reads documents as they were before uncommitted edits. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { createReport } from '../diagnostics/diagnostic.ts'
import { joinParts, type ReadPart } from '../document/join-parts.ts'
import type { RemoteReferences } from '../document/parts.ts'
import { readValue } from '../document/read-yaml.ts'
import { type CommandOutcome, UsageError } from './run.ts'

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

/** Shortens the hash of a commit. */
export const nameOf = (commit: string): string =>
  /^[0-9a-f]{40}$/.test(commit) ? commit.slice(0, 7) : commit

/**
 * Calls a function with the files of a commit in a temporary folder. In the result, files there are named as Git names
 * them: the commit, a colon and the path.
 *
 * @param perform receives a function that returns the path of a file in the commit, or undefined if the commit lacks it.
 * @throws UsageError if the working directory is not in a Git repository that has the commit.
 */
export async function withTreeOf(
  commit: string,
  perform: (former: (file: string) => string | undefined) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const [root, prefix] = ['--show-toplevel', '--show-prefix'].map((word) =>
    run('git', ['rev-parse', word], commit),
  )
  const hash = run('git', ['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`], commit)
  const folder = mkdtempSync(join(tmpdir(), 'dateline-'))
  try {
    const [archive, tree] = [join(folder, 'tree.tar'), join(folder, 'tree')]
    run('git', ['-C', root!, 'archive', `--output=${archive}`, hash], commit)
    mkdirSync(tree)
    run('tar', ['-xf', archive, '-C', tree], commit)
    const { lines, data, exit } = await perform((file) => {
      const path = join(tree, prefix!, relative('.', file))
      return existsSync(path) ? path : undefined
    })
    const named = (text: string) => text.replaceAll(`${tree}/`, `${nameOf(commit)}:`)
    return {
      lines: lines.map(named),
      data: JSON.parse(named(JSON.stringify(data))) as CommandOutcome['data'],
      ...(exit !== undefined && { exit }),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(program: string, words: readonly string[], commit: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8' })
  if (status === 0) return stdout.trim()
  throw new UsageError(`${commit} cannot be read from Git: ${error?.message ?? stderr.trim()}`)
}
