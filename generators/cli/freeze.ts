/**
 * `freeze`: stores the document that a service currently returns as a version; `check` compares the service with the
 * newest version.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { createReport, type Diagnostic } from '../diagnostics/diagnostic.ts'
import type { VersionPair } from '../gate/steps.ts'
import { compareVersions } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import { type CommandOutcome, type CommandRun, count, UsageError } from './run.ts'
import { readSourceDocument, withVersion } from './source-document.ts'

/**
 * Stores the service's document as `version`. The newest version may be stored again if nothing in it breaks; older
 * ones are frozen.
 *
 * @param from a URL, a file or a command; default: `source` of the configuration
 * @throws UsageError if the version is older than the newest, or its callers would break
 */
export async function freeze(
  run: CommandRun,
  version: string,
  from = run.config.source,
): Promise<CommandOutcome> {
  if (from === undefined)
    throw new UsageError(
      '--from is missing: expected the URL, file or command that returns the service’s document, here or as `source` of the configuration',
    )
  const { text, extension } = withVersion(await readSourceDocument(from), version)
  const file = await fileOf(run, version, text, extension)
  const isNew = !existsSync(file)
  const isSame = !isNew && readFileSync(file, 'utf8') === text
  if (!isSame) writeFileSync(file, text)
  // A version that is stored again in the other notation replaces its file, which is removed only once the new one exists.
  for (const former of run.config.documents)
    if (former !== file && parse(former).name === parse(file).name) rmSync(former)
  return {
    lines: [
      isSame ? `${file}: the service has not changed` : `wrote ${file}`,
      ...(isNew ? ['run `dateline check`: it names each change that this version needs'] : []),
    ],
    data: { version, file, changed: !isSame },
  }
}

async function fileOf(run: CommandRun, version: string, text: string, extension: string): Promise<string> {
  const newestFile = run.config.documents.at(-1)!
  const newest = await readApi(run, newestFile, readFileSync(newestFile, 'utf8'))
  const order = compareVersions(version, newest.version)
  if (order < 0)
    throw new UsageError(
      `${version} is frozen: ${newest.version} came after it. Name a date after ${newest.version}.`,
    )
  if (order > 0) return join(dirname(newestFile), `${version}${extension}`)
  const pair = await comparePair(newest, await readApi(run, newestFile, text), false)
  const breaks = pair.claimed.filter(({ difference }) => difference.class === 'breaking').length
  if (breaks > 0)
    throw new UsageError(
      `${version} cannot be stored again: ${count(breaks, 'difference')} would break its callers. Name a new date; \`dateline check\` lists them.`,
    )
  const { dir, name } = parse(newestFile)
  return join(dir, `${name}${extension}`)
}

/** The service's document, compared as if it were the next version. */
const NEXT = 'next'

/**
 * Adds a finding if the service's document differs from the newest version, with the changes that this requires.
 *
 * @throws DiagnosticsError with the findings
 */
export async function checkSource(run: CommandRun, source: string): Promise<void> {
  const { config, report } = run
  const newestFile = config.documents.at(-1)!
  const newest = await readApi(run, newestFile, readFileSync(newestFile, 'utf8'))
  const { text } = withVersion(await readSourceDocument(source), NEXT)
  const pair = await comparePair(newest, await readApi(run, source, text), config.versions !== undefined)
  if (pair.claimed.length === 0) return
  report.add(describeChange(pair, newestFile))
  const { checkSteps } = await import('../gate/gate.ts')
  for (const diagnostic of checkSteps([pair], config)) report.add(diagnostic)
  report.finish()
}

function describeChange({ old, claimed }: VersionPair, file: string): Diagnostic {
  const breaks = claimed.filter(({ difference }) => difference.class === 'breaking').length
  const differences = count(claimed.length, 'difference')
  return {
    code: 'source-changed',
    severity: 'error',
    place: { file, line: 1, column: 1, pointer: '' },
    message: `the service differs from ${old.version}: ${differences}, ${breaks} of them breaking`,
    hint:
      breaks > 0
        ? 'run `dateline freeze DATE` with a new date, then write the changes below into its folder in `versions`; or undo the change'
        : `run \`dateline freeze ${old.version}\`: nothing here breaks callers`,
  }
}

/** Drops warnings: the family's are printed once, and the service's when its document is a version. */
async function readApi({ config }: CommandRun, file: string, text: string): Promise<Api> {
  const report = createReport()
  const [{ parseText }, { buildApi }] = await Promise.all([
    import('../document/load.ts'),
    import('../ir/build.ts'),
  ])
  const document = parseText(file, text, report, config)
  report.finish()
  const api = buildApi(document!, report, config.strict)
  report.finish()
  return api
}

async function comparePair(old: Api, next: Api, translated: boolean): Promise<VersionPair> {
  const { claimDifferences } = await import('../gate/steps.ts')
  return { old, next, changes: [], claimed: claimDifferences(old, next, [], translated) }
}
