/** Shared by the commands that rename or remove a version: the family as it is, its files, and the run that follows the edits. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { filesBelow } from '../cache/cache.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { createReport } from '../diagnostics/diagnostic.ts'
import type { VersionPair } from '../gate/steps.ts'
import type { Api } from '../ir/model.ts'
import { type FileEdits, withEdits } from './file-edits.ts'
import { type CommandOutcome, type CommandRun, loadFamily, openRun, UsageError } from './run.ts'
import { type Splice, wordOf } from './version-text.ts'

/** A family whose gate reports no error. */
export interface SoundFamily {
  /** Oldest first. */
  readonly apis: readonly Api[]
  readonly changes: readonly LoadedChange[]
  readonly steps: readonly VersionPair[]
}

/** @throws DiagnosticsError if the gate reports an error, because the edit of a broken family cannot be checked. */
export async function loadSoundFamily(run: CommandRun): Promise<SoundFamily> {
  const { config } = run
  // Its warnings are those of `generate`.
  const report = createReport()
  const apis = await loadFamily({ ...run, report })
  const [{ loadChanges }, { claimSteps }, { checkSteps }] = await Promise.all([
    import('../change/load-changes.ts'),
    import('../gate/steps.ts'),
    import('../gate/gate.ts'),
  ])
  const versions = apis.map(({ version }) => version)
  const changes = await loadChanges(config.versions, versions, report)
  const steps = claimSteps(apis, changes)
  for (const diagnostic of checkSteps(steps, config)) report.add(diagnostic)
  report.finish()
  return { apis, changes, steps }
}

/** @throws UsageError if the family has no such version. */
export function indexOfVersion(apis: readonly Api[], version: string): number {
  const index = apis.findIndex((api) => api.version === version)
  if (index >= 0) return index
  throw new UsageError(`${version} is not a version: expected ${apis.map((api) => api.version).join(', ')}`)
}

/**
 * @param stated whether the caller stated that no caller uses the version.
 * @throws UsageError if callers may use it.
 */
export function requireUnpublished(version: string, isNewest: boolean, stated: boolean): void {
  if (stated) return
  const isFuture = /^\d{4}-\d{2}-\d{2}$/.test(version) && version > new Date().toISOString().slice(0, 10)
  if (isNewest && isFuture) return
  const reason = isNewest ? 'may be published' : 'is frozen, because a newer version exists'
  throw new UsageError(
    `${version} ${reason}: its callers would be refused. If it has no callers, add \`--unpublished\`.`,
  )
}

/** Returns the folder of a version's changes. */
export const changesFolder = ({ config: { versions } }: CommandRun, version: string): string | undefined =>
  versions === undefined ? undefined : join(versions, version)

/** Returns the files of a version's changes, including those that changes import. */
export function changeFiles(run: CommandRun, version: string): string[] {
  const folder = changesFolder(run, version)
  return folder === undefined ? [] : filesBelow(folder)
}

/** A string in the configuration file, between two offsets of its text, without its quotes. */
export interface ConfiguredString extends Omit<Splice, 'text'> {
  readonly value: string
}

/** Returns the strings of the configuration file, JSON or a module. */
export function configuredStrings(text: string): ConfiguredString[] {
  return [...text.matchAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g)].map(({ index, 2: value = '' }) => ({
    value,
    start: index + 1,
    end: index + 1 + value.length,
  }))
}

/** Returns whether a path in the configuration file means a file. */
export const isPathOf = (run: CommandRun, path: string, file: string): boolean =>
  resolve(dirname(run.file), path) === resolve(file)

/** Number of locations to list; the rest is only counted. */
const NAMED = 10

/** Returns the lines of the family's sources that contain a version, as steps for the author. */
export async function mentionsOf(run: CommandRun, version: string): Promise<string[]> {
  const { config, file } = await openRun(run.file, run.terminal)
  const folders = [config.versions, config.pages, config.handlers].filter((each) => each !== undefined)
  const files = [file, ...config.documents, ...folders.flatMap(filesBelow)].filter(existsSync)
  const word = wordOf(version)
  const places = files.flatMap((each) =>
    readFileSync(each, 'utf8')
      .split('\n')
      .flatMap((line, index) => (word.test(line) ? [`${each}:${index + 1}: still names ${version}`] : [])),
  )
  const rest = places.length - NAMED
  return rest > 0 ? [...places.slice(0, NAMED), `… and ${rest} more lines`] : places
}

/** Edits of the family's files, and what they do, for people. */
export interface FamilyEdit {
  readonly edits: FileEdits
  readonly lines: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
  /** The version that the sources should no longer name. */
  readonly gone: string
  /** What the author does next. */
  readonly next: readonly string[]
}

/**
 * Makes the edits and generates the output again. If a finding of `generate` is an error, no file changes.
 *
 * @param dry only returns what would be done.
 * @throws DiagnosticsError with the findings of `generate`
 */
export async function editFamily(run: CommandRun, edit: FamilyEdit, dry: boolean): Promise<CommandOutcome> {
  const { lines, data, gone, next } = edit
  if (dry) return { lines: [...lines, 'nothing was written'], data: { ...data, dryRun: true } }
  const { generate } = await import('./generate.ts')
  const generated = await withEdits(edit.edits, async () => {
    const after = await openRun(run.file, run.terminal, run.sources)
    return generate(after, { keepsTypes: true })
  })
  return {
    lines: [...lines, generated.lines.at(-1)!, ...(await mentionsOf(run, gone)), ...next],
    data: { ...data, dryRun: false, ...generated.data },
  }
}
