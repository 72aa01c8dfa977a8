/** `diff A B`: prints every difference between two documents, and the change that accounts for each. */
import { existsSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { DiagnosticPaint } from '../diagnostics/diagnostic.ts'
import { formatLocation } from '../diff/difference.ts'
import type { AccountedDifference } from '../gate/steps.ts'
import type { Config } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import { groupDifferences } from './difference-groups.ts'
import { printMarkdown, printText } from './difference-text.ts'
import { type CommandOutcome, type CommandRun, FINDINGS, OK, painterOf, UsageError } from './run.ts'

/** @throws UsageError if a name is neither a version of the family nor a file. */
export async function diff(
  run: CommandRun,
  a: string,
  b: string,
  markdown: boolean,
): Promise<CommandOutcome> {
  const { config, report } = run
  const files = [documentOf(config, a), documentOf(config, b)] as const
  run.terminal.status?.(`reading ${files.join(' and ')}`)
  const [old, next] = await readDocuments(run, files)
  const [{ loadChanges }, { claimDifferences }] = await Promise.all([
    import('../change/load-changes.ts'),
    import('../gate/steps.ts'),
  ])
  const changes = await loadChanges(config.versions, versionsBetween(config, files, next!), report)
  report.finish()
  const claimed = claimDifferences(old!, next!, changes)
  const paint: DiagnosticPaint = markdown ? (_, text) => text : painterOf(run.terminal)
  const groups = groupDifferences(claimed)
  const print = markdown ? printMarkdown : printText
  const isOpen = ({ difference, by }: AccountedDifference) =>
    difference.class === 'breaking' && by.length === 0
  return {
    lines: print(old!, next!, claimed, groups, paint),
    data: {
      old: { version: old!.version, file: old!.file },
      new: { version: next!.version, file: next!.file },
      differences: claimed.map(({ difference, by }) => ({
        ...difference,
        location: formatLocation(difference.at),
        claimedBy: by.map(({ id, file }) => ({ id, file })),
      })),
    },
    exit: claimed.some(isOpen) ? FINDINGS : OK,
  }
}

/** Reads two documents without linting them, because lint findings are not differences. */
async function readDocuments({ config, report }: CommandRun, files: readonly string[]): Promise<Api[]> {
  const [{ loadDocument }, { buildApi }] = await Promise.all([
    import('../document/load.ts'),
    import('../ir/build.ts'),
  ])
  const documents = files.flatMap((file) => loadDocument(file, report, config) ?? [])
  report.finish()
  const apis = documents.map((document) => buildApi(document, report, config.strict))
  report.finish()
  return apis
}

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
  if (from < 0 || to < 0 || to <= from) return [next.version]
  return config.documents
    .slice(from + 1, to)
    .map(stem)
    .concat(next.version)
}
