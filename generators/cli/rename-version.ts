/** `rename-version OLD NEW`: gives a version that is not published a different name, in all sources of the family. */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createReport } from '../diagnostics/diagnostic.ts'
import { parseText } from '../document/load.ts'
import { compareVersions } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import {
  changeFiles,
  changesFolder,
  configuredStrings,
  editFamily,
  indexOfVersion,
  isPathOf,
  loadSoundFamily,
  requireUnpublished,
} from './edit-family.ts'
import { type CommandOutcome, type CommandRun, count, UsageError } from './run.ts'
import { documentFor, isProse, namesVersion, renameInImports, splice, stringsIn } from './version-text.ts'

export interface RenameVersionOptions {
  readonly unpublished?: boolean
  readonly dryRun?: boolean
}

/**
 * Renames the document, the folder of its changes, and all values, imports and paths that name the version.
 *
 * @throws UsageError if callers may use the version, or the new name is taken or changes the order of versions.
 * @throws DiagnosticsError if `generate` reports an error before or after; then no file changes.
 */
export async function renameVersion(
  run: CommandRun,
  before: string,
  version: string,
  { unpublished = false, dryRun = false }: RenameVersionOptions,
): Promise<CommandOutcome> {
  const { apis } = await loadSoundFamily(run)
  const index = indexOfVersion(apis, before)
  requireUnpublished(before, index === apis.length - 1, unpublished)
  requireName(version, apis, index)
  const file = apis[index]!.file
  const renamed = documentFor(file, before, version) ?? file
  if (renamed !== file && existsSync(renamed)) throw new UsageError(`${renamed} already exists`)
  const edits = new Map<string, string | Buffer | undefined>()
  const lines: string[] = []
  const edit = (path: string, text: string, to = path) => {
    if (to === path && text === readFileSync(path, 'utf8')) return
    edits.set(to, text)
    if (to === path) lines.push(`edited ${path}`)
    else edits.set(path, undefined)
  }
  for (const api of apis) {
    const text = renameInDocument(readFileSync(api.file, 'utf8'), before, version)
    if (api.file !== file) {
      edit(api.file, text)
      continue
    }
    if (versionIn(text, file) !== version)
      throw new UsageError(
        `${file}: \`info.version\` is not the string ${before}. Quote it, and run the command again.`,
      )
    if (renamed !== file) lines.push(`renamed ${file} to ${renamed}`)
    edit(file, text, renamed)
  }
  const [from, to] = [changesFolder(run, before), changesFolder(run, version)]
  if (from !== undefined && to !== undefined) {
    if (existsSync(to)) throw new UsageError(`${to} already exists`)
    const files = changeFiles(run, before)
    if (files.length > 0) lines.push(`renamed ${from} to ${to} (${count(files.length, 'file')})`)
    for (const each of files) moveChange(each, join(to, relative(from, each)), edits, before, version)
    for (const { version: other } of apis.filter((api) => api.version !== before))
      for (const each of changeFiles(run, other).filter((path) => path.endsWith('.ts')))
        edit(each, renameInImports(readFileSync(each, 'utf8'), before, version))
  }
  edit(run.file, renameInConfiguration(run, { before, version, file, renamed }))
  return editFamily(
    run,
    { edits, lines, data: { before, version, file: renamed }, gone: before, next: [] },
    dryRun,
  )
}

/** A name must keep the order of versions, because each version is compared with the one before it. */
function requireName(version: string, apis: readonly Api[], index: number): void {
  if (!/^\w[\w.-]*$/.test(version))
    throw new UsageError(`${version} cannot be the name of a version: expected a date, such as 2030-01-01`)
  if (apis.some((api) => api.version === version)) throw new UsageError(`${version} already exists`)
  const [previous, next] = [apis[index - 1]?.version, apis[index + 1]?.version]
  if (previous !== undefined && compareVersions(version, previous) <= 0)
    throw new UsageError(`${version} is not later than ${previous}, the version before it`)
  if (next !== undefined && compareVersions(version, next) >= 0)
    throw new UsageError(`${version} is not earlier than ${next}, the version after it`)
}

function renameInDocument(text: string, before: string, version: string): string {
  const found = stringsIn(text).filter((each) => namesVersion(each.value, before) && !isProse(each))
  return splice(
    text,
    found.map(({ start, end }) => ({
      start,
      end,
      text: text.slice(start, end).replaceAll(before, version),
    })),
  )
}

function versionIn(text: string, file: string): string | undefined {
  const info = parseText(file, text, createReport())?.json.info as { version?: unknown } | undefined
  return typeof info?.version === 'string' ? info.version : undefined
}

function moveChange(
  file: string,
  to: string,
  edits: Map<string, string | Buffer | undefined>,
  before: string,
  version: string,
): void {
  edits.set(file, undefined)
  edits.set(
    to,
    file.endsWith('.ts') ? renameInImports(readFileSync(file, 'utf8'), before, version) : readFileSync(file),
  )
}

interface Renaming {
  readonly before: string
  readonly version: string
  readonly file: string
  readonly renamed: string
}

/** Renames the version, and the path of its document, where the configuration names them. */
function renameInConfiguration(run: CommandRun, { before, version, file, renamed }: Renaming): string {
  const text = readFileSync(run.file, 'utf8')
  const found = configuredStrings(text).flatMap(({ value, start, end }) => {
    if (value === before) return [{ start, end, text: version }]
    if (renamed === file || !isPathOf(run, value, file)) return []
    return [{ start, end, text: documentFor(value, before, version) ?? value }]
  })
  return splice(text, found)
}
