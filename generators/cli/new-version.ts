/** `new-version DATE`: creates the next document from the newest, and the folder for its changes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { makeFolder } from '../cache/make-folder.ts'
import { createReport } from '../diagnostics/diagnostic.ts'
import { joinedText } from '../document/join-parts.ts'
import { parseText } from '../document/load.ts'
import { compareVersions, loadConfig } from '../generate/config.ts'
import { type CommandOutcome, type CommandRun, UsageError } from './run.ts'
import { documentFor, isProse, namesVersion, type Splice, splice, stringsIn } from './version-text.ts'

/** @throws UsageError if the version exists or would not be the newest. */
export async function newVersion(run: CommandRun, version: string): Promise<CommandOutcome> {
  const { config, report } = run
  const newest = config.documents.at(-1)!
  const text = readFileSync(newest, 'utf8')
  const loaded = parseText(newest, text, report, config)
  report.finish()
  const before = String((loaded!.json.info as { version?: unknown } | undefined)?.version ?? '')
  const file = documentFor(newest, before, version) ?? join(dirname(newest), `${version}${extname(newest)}`)
  if (existsSync(file)) throw new UsageError(`${file} already exists`)
  if (compareVersions(version, before) <= 0)
    throw new UsageError(`${version} is not later than ${before}, the newest version`)
  const { next, previous, lists } = edit(text, before, version)
  // The previous version is published: later edits to files that both refer to must not change it.
  const frozen = joinedText(newest, previous, report, config.remoteReferences)
  report.finish()
  writeFileSync(file, next)
  if (frozen !== undefined && frozen !== text) writeFileSync(newest, frozen)
  const folder = config.versions === undefined ? undefined : join(config.versions, version)
  if (folder !== undefined) {
    makeFolder(folder)
    // Git does not track empty folders.
    writeFileSync(join(folder, '.gitkeep'), '')
  }
  const steps = stepsOf({ file, newest, folder, lists, listed: !(await includes(run.file, file)) })
  return {
    lines: [
      `wrote ${file}`,
      ...(previous === text ? [] : [`wrote ${newest}: its status is now \`supported\``]),
      ...(frozen === previous ? [] : [`wrote ${newest}: it now contains the files that it referred to`]),
      ...steps,
    ],
    data: { version, before, file, folder: folder ?? null, steps },
  }
}

/** Returns whether the configuration includes a new file, because it names the folder of documents. */
async function includes(configuration: string, file: string): Promise<boolean> {
  const config = await loadConfig(configuration, createReport())
  return config?.documents.includes(file) ?? false
}

interface Edit {
  readonly next: string
  readonly previous: string
  /** Lines of the new document with an enumeration of versions, which the author must extend. */
  readonly lists: readonly number[]
}

/** Replaces the version in values, but not in keys or prose. Leaves all other text unchanged. */
function edit(text: string, before: string, version: string): Edit {
  const renames: Splice[] = []
  const statuses: Splice[] = []
  const lists: number[] = []
  for (const each of stringsIn(text)) {
    const { value, key, start, end } = each
    if (key === 'x-status' && value === 'current') statuses.push({ start, end, text: 'supported' })
    if (!namesVersion(value, before) || isProse(each)) continue
    if (key === 'enum') lists.push(text.slice(0, start).split('\n').length)
    else renames.push({ start, end, text: text.slice(start, end).replaceAll(before, version) })
  }
  return { next: splice(text, renames), previous: splice(text, statuses), lists }
}

interface Made {
  readonly file: string
  readonly newest: string
  readonly folder: string | undefined
  readonly lists: readonly number[]
  readonly listed: boolean
}

function stepsOf({ file, newest, folder, lists, listed }: Made): string[] {
  return [
    ...(listed ? [`add ${file} to \`documents\` in the configuration file`] : []),
    ...lists.map((line) => `${file}:${line}: add the new version to this enumeration`),
    `edit ${file}; do not edit ${newest}, which is published`,
    ...(folder === undefined
      ? ['run `dateline generate`']
      : [
          `run \`dateline generate\` after each edit: it fails on each breaking difference until a change in ${folder} accounts for it, and prints a draft of that change`,
          `\`dateline diff ${newest} ${file}\` lists the differences so far`,
        ]),
  ].map((step, index) => `${index + 1}. ${step}`)
}
