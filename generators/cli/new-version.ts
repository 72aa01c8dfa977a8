/** `new-version DATE`: creates the next document from the newest, and the folder for its changes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { isPair, isScalar, type Pair, parseDocument, type Scalar, visit } from 'yaml'
import { makeFolder } from '../cache/make-folder.ts'
import { createReport } from '../diagnostics/diagnostic.ts'
import { joinedText } from '../document/join-parts.ts'
import { parseText } from '../document/load.ts'
import { compareVersions, loadConfig } from '../generate/config.ts'
import { type CommandOutcome, type CommandRun, UsageError } from './run.ts'

/** @throws UsageError if the version exists or would not be the newest. */
export async function newVersion(run: CommandRun, version: string): Promise<CommandOutcome> {
  const { config, report } = run
  const newest = config.documents.at(-1)!
  const text = readFileSync(newest, 'utf8')
  const loaded = parseText(newest, text, report, config)
  report.finish()
  const before = String((loaded!.json.info as { version?: unknown } | undefined)?.version ?? '')
  const file = fileFor(newest, before, version)
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

/**
 * `openapi/2026-05-19.yaml` → `openapi/2026-09-01.yaml`. If the file name does not contain the version, the new
 * file goes into the same folder.
 */
function fileFor(newest: string, before: string, version: string): string {
  const name = basename(newest)
  const named = before !== '' && name.includes(before)
  return join(dirname(newest), named ? name.replace(before, version) : `${version}${extname(newest)}`)
}

/** Returns whether the configuration includes a new file, because it names the folder of documents. */
async function includes(configuration: string, file: string): Promise<boolean> {
  const config = await loadConfig(configuration, createReport())
  return config?.documents.includes(file) ?? false
}

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Edit {
  readonly next: string
  readonly previous: string
  /** Lines of the new document with an enumeration of versions, which the author must extend. */
  readonly lists: readonly number[]
}

/** Replaces the version in values, but not in keys or prose. Leaves all other text unchanged. */
function edit(text: string, before: string, version: string): Edit {
  const document = parseDocument(text, { keepSourceTokens: true })
  const renames: Splice[] = []
  const statuses: Splice[] = []
  const lists: number[] = []
  visit(document, {
    Scalar(_, node, path) {
      const value = node.value
      if (typeof value !== 'string' || !node.range || isKey(node, path)) return
      const [start, end] = node.range
      const key = keyAbove(path)
      if (key === 'x-status' && value === 'current') statuses.push({ start, end, text: 'supported' })
      if (!names(value, before) || /^(description|summary|title)$/.test(key)) return
      if (key === '$ref' && !value.startsWith('#')) return
      if (key === 'enum') lists.push(text.slice(0, start).split('\n').length)
      else renames.push({ start, end, text: text.slice(start, end).replaceAll(before, version) })
    },
  })
  return { next: splice(text, renames), previous: splice(text, statuses), lists }
}

/** Returns whether a value without spaces contains the version as a separate word. */
function names(value: string, version: string): boolean {
  if (version === '' || /\s/.test(value)) return false
  const escaped = version.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w.-])${escaped}(?![\\w.-])`).test(value)
}

type YamlPath = readonly unknown[]

const isKey = (node: Scalar, path: YamlPath): boolean => {
  const parent = path.at(-1)
  return isPair(parent) && (parent as Pair).key === node
}

/** Returns the nearest key above a value, skipping lists. */
function keyAbove(path: YamlPath): string {
  const pair = path.findLast((each) => isPair(each)) as Pair | undefined
  return isScalar(pair?.key) ? String(pair.key.value) : ''
}

function splice(text: string, splices: readonly Splice[]): string {
  return splices.reduceRight(
    (all, { start, end, text: by }) => all.slice(0, start) + by + all.slice(end),
    text,
  )
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
