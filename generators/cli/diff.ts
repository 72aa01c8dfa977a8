/** `diff A B`: prints every difference between two documents, and the change that accounts for each. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { behavioursOf } from '../change/behaviour.ts'
import {
  createReport,
  type Diagnostic,
  type DiagnosticPaint,
  DiagnosticsError,
} from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { formatLocation } from '../diff/difference.ts'
import type { AccountedDifference } from '../gate/steps.ts'
import type { Config } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import { isSameValue } from '../runtime/same-value.ts'
import { nameOf, withTreeOf } from './committed.ts'
import { groupDifferences } from './difference-groups.ts'
import { printBehaviour, printMarkdown, printText } from './difference-text.ts'
import { type CommandOutcome, type CommandRun, FINDINGS, OK, painterOf, UsageError } from './run.ts'

export interface DiffOptions {
  readonly markdown?: boolean
  /** A Git commit. */
  readonly since?: string
}

/**
 * Compares two versions or files, or, with `since`, each document that was edited or added since a commit: an edited one
 * with its former text, a new one with the version before it.
 *
 * @throws UsageError if a name is neither a version of the family nor a file, or names are missing.
 */
export async function diff(
  run: CommandRun,
  [a, b]: readonly [string | undefined, string | undefined],
  { markdown = false, since }: DiffOptions = {},
): Promise<CommandOutcome> {
  if (since !== undefined && a !== undefined)
    throw new UsageError('--since compares all documents: name no versions')
  if (since !== undefined) return diffSince(run, since, markdown)
  if (a === undefined || b === undefined)
    throw new UsageError('name two versions or files, or a commit with `--since`')
  return diffPair(run, [documentOf(run.config, a), documentOf(run.config, b)], markdown)
}

/** Prints all pairs, without the path of the folder that holds the former documents. */
async function diffSince(run: CommandRun, commit: string, markdown: boolean): Promise<CommandOutcome> {
  const { config } = run
  return withTreeOf(commit, async (former) => {
    const outcomes: CommandOutcome[] = []
    for (const [index, file] of config.documents.entries()) {
      const before = former(file)
      const other = before ?? config.documents[index - 1]
      if (other === undefined || (before !== undefined && isSameText(before, file))) continue
      outcomes.push(await diffPair(run, [other, file], markdown))
    }
    const lines = outcomes.flatMap((outcome, index) => (index > 0 ? ['', ...outcome.lines] : outcome.lines))
    return {
      lines: outcomes.length > 0 ? lines : [`no document differs from ${nameOf(commit)}`],
      data: { since: commit, pairs: outcomes.map(({ data }) => data) },
      exit: outcomes.some(({ exit }) => exit === FINDINGS) ? FINDINGS : OK,
    }
  })
}

const isSameText = (a: string, b: string): boolean => readFileSync(a, 'utf8') === readFileSync(b, 'utf8')

async function diffPair(
  run: CommandRun,
  files: readonly [string, string],
  markdown: boolean,
): Promise<CommandOutcome> {
  const { config, report } = run
  run.terminal.status?.(`reading ${files.join(' and ')}`)
  const { apis, findings, missing, isSure } = await readDocuments(config, files)
  const [old, next] = withNames(apis)
  const [{ loadChanges }, { judgeDifferences }] = await Promise.all([
    import('../change/load-changes.ts'),
    import('./judge-differences.ts'),
  ])
  const changes = await loadChanges(config.versions, versionsBetween(config, files, next), report)
  report.finish()
  run.terminal.status?.('looking for witnesses')
  for (const finding of findings) report.add(finding)
  const isRead = ({ pointer }: SourceLocation) =>
    !missing.some((part) => pointer === part || pointer.startsWith(`${part}/`))
  const claimed = judgeDifferences(old, next, changes, isTranslated(config, files)).filter(({ difference }) =>
    [difference.old, difference.new].every((place) => !place || isRead(place)),
  )
  const paint: DiagnosticPaint = markdown ? (_, text) => text : painterOf(run.terminal)
  const groups = groupDifferences(claimed)
  const print = markdown ? printMarkdown : printText
  const isOpen = ({ difference, by }: AccountedDifference) =>
    difference.class === 'breaking' && by.length === 0
  return {
    lines: [
      ...print(old, next, claimed, groups, paint),
      ...printBehaviour(changes, markdown, paint),
      ...(missing.length > 0 ? ['', `not compared: ${missing.join(', ')}`] : []),
    ],
    data: {
      old: { version: old.version, file: old.file },
      new: { version: next.version, file: next.file },
      differences: claimed.map(({ difference, by, verdict }) => ({
        ...difference,
        ...verdict,
        location: formatLocation(difference.at),
        claimedBy: by.map(({ id, file }) => ({ id, file })),
      })),
      notCompared: missing,
      behaviour: behavioursOf(changes).map(({ name, change: { id, version }, affects }) => ({
        name,
        since: version,
        change: id,
        affects,
      })),
    },
    exit: claimed.some(isOpen) || !isSure ? FINDINGS : OK,
  }
}

interface ReadPair {
  readonly apis: readonly [Api, Api]
  readonly findings: readonly Diagnostic[]
  /** Pointers of parts that one of the documents describes in a way that cannot be read. */
  readonly missing: readonly string[]
  /** Whether both documents describe these parts in the same way. */
  readonly isSure: boolean
}

/**
 * Reads two documents without linting them, because lint findings are not differences. Leaves out parts that cannot be
 * read; their findings are warnings if both documents have the same.
 *
 * @throws DiagnosticsError if a whole document cannot be read.
 */
async function readDocuments(config: Config, files: readonly string[]): Promise<ReadPair> {
  const [{ loadDocument }, { buildApi }] = await Promise.all([
    import('../document/load.ts'),
    import('../ir/build.ts'),
  ])
  const readings = files.map((file) => {
    const findings = createReport()
    const document = loadDocument(file, findings, { ...config, strict: false, leavesOut: true })
    const unread = new Map(document?.missing)
    const count = findings.diagnostics.length
    const api = document && buildApi(document, findings, false)
    for (const { code, severity, place, message } of findings.diagnostics.slice(count))
      if (severity === 'error' && place && code !== REPEATED)
        unread.set(place.pointer.replace(/\/\$(dynamicRef|ref)$/, ''), message)
    return { api, findings: findings.diagnostics, unread }
  })
  const [old, next] = readings
  const missing = [...new Set(readings.flatMap(({ unread }) => [...unread.keys()]))]
  const isSure = missing.every((part) => isSameValue(old!.unread.get(part), next!.unread.get(part)))
  if (!old?.api || !next?.api) throw new DiagnosticsError(readings.flatMap(({ findings }) => findings))
  const findings = readings.flatMap((reading) =>
    reading.findings.map((each): Diagnostic => {
      const isNoted = each.severity === 'error' && (isSure || each.code === REPEATED)
      return isNoted ? { ...each, severity: 'warning' } : each
    }),
  )
  return { apis: [old.api, next.api], findings, missing, isSure }
}

/** Two operations with one id are compared by their routes. */
const REPEATED = 'operation-id-repeated'

/** Names versions after their files if both documents have the same `info.version`. */
function withNames([old, next]: readonly [Api, Api]): [Api, Api] {
  if (old.version !== next.version || stem(old.file) === stem(next.file)) return [old, next]
  return [
    { ...old, version: stem(old.file) },
    { ...next, version: stem(next.file) },
  ]
}

/** A family with changes serves all its versions. Other documents replace each other. */
const isTranslated = ({ versions, documents }: Config, files: readonly string[]): boolean =>
  versions !== undefined && files.every((file) => documents.includes(file))

const stem = (file: string): string => basename(file, extname(file))

function documentOf(config: Config, name: string): string {
  const known = config.documents.find((file) => stem(file) === name || file === name)
  if (known !== undefined) return known
  if (existsSync(name)) return name
  throw new UsageError(
    config.documents.length === 0
      ? `${name} is not a file, and without a configuration file versions are unknown; pass two files, or add \`--config\``
      : `${name} is neither a version of this family (${config.documents.map(stem).join(', ')}) nor a file`,
  )
}

/** Returns the versions whose changes lead from one document to the other. */
function versionsBetween(config: Config, [a, b]: readonly [string, string], next: Api): string[] {
  const [from, to] = [config.documents.indexOf(a), config.documents.indexOf(b)]
  // A family whose `info.version` values are not unique is named after its files.
  const last = [...new Set([next.version, stem(b)])]
  if (from < 0 || to < 0 || to <= from) return last
  return [...config.documents.slice(from + 1, to).map(stem), ...last]
}
