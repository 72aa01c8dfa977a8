/** `replay`: reports what an upgrade would change for the callers of recorded traffic. */
import { createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Api } from '../ir/model.ts'
import {
  type CallerExchange,
  parseRecord,
  RecordFault,
  type ReadingOptions,
  readHarEntry,
  readLogLine,
} from '../replay/exchanges.ts'
import { createFamilyReplay } from '../replay/family.ts'
import { type OnRecord, splitHar, splitLines } from '../replay/records.ts'
import { type CallerTally, createTally, KINDS, type ReplayFinding, type ReplayTally } from '../replay/tally.ts'
import type { ReplayKind } from '../runtime/replay.ts'
import { type CommandOutcome, type CommandRun, count, FINDINGS, OK, UsageError } from './run.ts'

export interface ReplayCommandOptions {
  readonly from?: string
  readonly to?: string
  /** Header that names the caller. */
  readonly caller?: string
}

/** A record that could not be replayed, with its location. */
interface BadRecord {
  readonly at: string
  readonly fault: string
}

/** Bad records that are listed; the others are only counted. */
const LISTED = 20

interface ReplayCounts {
  records: number
  replayed: number
  otherVersion: number
  noOperation: number
  bad: number
}

/**
 * Replays the exchanges of all files. A record that cannot be read is counted and located, and does not stop the others.
 *
 * @throws UsageError if a file or version does not exist. @throws DiagnosticsError if a document cannot be read.
 */
export async function replay(
  run: CommandRun,
  files: readonly string[],
  options: ReplayCommandOptions,
): Promise<CommandOutcome> {
  for (const file of files) if (!existsSync(file)) throw new UsageError(`${file} does not exist`)
  const { apis, changes } = await loadVersions(run, options)
  const replayOne = createFamilyReplay(apis, changes)
  const [from, to] = [apis[0]!.version, apis.at(-1)!.version]
  const bases = basePathsOf(apis[0]!)
  const reading: ReadingOptions = {
    versionHeader: (run.config.wire?.versionHeader ?? 'Api-Version').toLowerCase(),
    ...(options.caller !== undefined && { callerHeader: options.caller.toLowerCase() }),
  }
  const counts: ReplayCounts = { records: 0, replayed: 0, otherVersion: 0, noOperation: 0, bad: 0 }
  const bad: BadRecord[] = []
  const tally = createTally()
  const replayExchange = (exchange: CallerExchange, place: () => string) => {
    if (exchange.version !== undefined && exchange.version !== from) return void counts.otherVersion++
    const { target } = exchange
    const base = bases.find((each) => target.startsWith(each))
    const replayed =
      (base !== undefined && replayOne({ ...exchange, target: target.slice(base.length - 1) })) ||
      replayOne(exchange)
    if (!replayed) return void counts.noOperation++
    counts.replayed++
    tally.add(exchange.caller, replayed.operation, replayed.notes, place)
  }
  for (const file of files) {
    const isHar = /\.har(\.gz)?$/i.test(file)
    const read = isHar ? readHarEntry : readLogLine
    const onRecord: OnRecord = (record, at) => {
      counts.records++
      const place = () => (isHar ? `${file} entry ${at}` : `${file}:${at}`)
      try {
        if (!Buffer.isBuffer(record)) throw new RecordFault(record.fault)
        replayExchange(read(parseRecord(record), reading), place)
      } catch (error) {
        if (!(error instanceof RecordFault)) throw error
        counts.bad++
        if (bad.length < LISTED) bad.push({ at: place(), fault: error.message })
      }
      if (counts.records % 10_000 === 0) run.terminal.status?.(`replayed ${counts.records} exchanges`)
    }
    const splitter = (isHar ? splitHar : splitLines)(onRecord)
    await readFile(file, (chunk) => splitter.push(chunk))
    splitter.end()
  }
  run.terminal.status?.('')
  const isUnfit = tally.findings().some(({ kind }) => kind === 'unfit')
  return {
    lines: printReplay(from, to, counts, bad, tally),
    data: { from, to, ...counts, badRecords: bad, findings: tally.findings(), callers: tally.callers() },
    exit: isUnfit ? FINDINGS : OK,
  }
}

/** Returns the versions from `--from` to `--to`, and all changes. Documents are not linted, because lint findings do not matter here. */
async function loadVersions({ config, report }: CommandRun, { from, to }: ReplayCommandOptions) {
  const [{ loadDocument }, { buildApi }, { nameVersions }, { loadChanges }] = await Promise.all([
    import('../document/load.ts'),
    import('../ir/build.ts'),
    import('../ir/versions.ts'),
    import('../change/load-changes.ts'),
  ])
  const documents = config.documents.flatMap((file) => loadDocument(file, report, config) ?? [])
  report.finish()
  const apis = nameVersions(
    documents.map((document) => buildApi(document, report, config.strict)),
    report,
  )
  const names = apis.map(({ version }) => version)
  const changes = await loadChanges(config.versions, names, report)
  report.finish()
  const indexOf = (option: string, name: string | undefined) => {
    const index = name === undefined ? -1 : names.indexOf(name)
    if (index < 0) throw new UsageError(`${option}: name one of the versions ${names.join(', ')}`)
    return index
  }
  const [first, last] = [indexOf('--from', from), indexOf('--to', to ?? names.at(-1))]
  if (first >= last) throw new UsageError(`--to must be a later version than ${names[first]}`)
  return { apis: apis.slice(first, last + 1), changes }
}

/** Returns the paths of the servers, with a slash at the end, longest first. */
function basePathsOf({ servers }: Api): readonly string[] {
  const paths = servers.map(({ url }) => url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/*$/, '/'))
  return [...new Set(paths)].filter((path) => path.length > 1).sort((a, b) => b.length - a.length)
}

async function readFile(file: string, onChunk: (chunk: Buffer) => void): Promise<void> {
  const source = createReadStream(file, { highWaterMark: 1024 * 1024 })
  const consume = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) onChunk(chunk)
  }
  if (file.endsWith('.gz')) await pipeline(source, createGunzip(), consume)
  else await pipeline(source, consume)
}

const TITLES: Readonly<Record<ReplayKind, string>> = {
  unfit: 'Translated requests that the later version refuses: correct the changes',
  breaks: 'Breaks: the later version refuses the request as it is sent',
  silent: 'Silent: the later version accepts the request as it is sent, but it means something else',
  changes: 'Other changes of these requests',
  answer: 'Changes of answers',
  deprecated: 'Deprecated',
  invalid: 'Does not fit its own version',
}

/** Findings of one kind that are listed; `--json` has all. */
const SHOWN = 20
const SHOWN_CALLERS = 20

function printReplay(
  from: string,
  to: string,
  counts: ReplayCounts,
  bad: readonly BadRecord[],
  tally: ReplayTally,
): readonly string[] {
  const [findings, callers] = [tally.findings(), tally.callers()]
  const left = [
    counts.otherVersion > 0 && `${counts.otherVersion} of other versions`,
    counts.noOperation > 0 && `${counts.noOperation} of no operation`,
    counts.bad > 0 && `${counts.bad} unreadable`,
  ].filter((each) => each !== false)
  return [
    `${from} → ${to}: replayed ${count(counts.replayed, 'exchange')} of ${count(callers.length, 'caller')}${left.length > 0 ? `; left out ${left.join(', ')}` : ''}`,
    ...KINDS.flatMap((kind) => {
      const own = findings.filter((each) => each.kind === kind)
      if (own.length === 0) return []
      return [
        '',
        TITLES[kind],
        ...own.slice(0, SHOWN).map((each) => `  ${lineOf(each)}, ${count(each.callers, 'caller')}`),
        ...rest(own.length, SHOWN),
      ]
    }),
    ...(callers.length > 0 ? ['', 'Callers', ...callers.slice(0, SHOWN_CALLERS).flatMap(callerLines)] : []),
    ...rest(callers.length, SHOWN_CALLERS),
    ...(bad.length > 0 ? ['', 'Unreadable', ...bad.map(({ at, fault }) => `  ${at} ${fault}`)] : []),
    ...rest(counts.bad, bad.length),
  ]
}

const rest = (all: number, shown: number): readonly string[] =>
  all > shown ? [`  and ${all - shown} more`] : []

const lineOf = ({ operation, field, detail, exchanges, first }: ReplayFinding): string =>
  `${operation} ${field} ${detail}: ${count(exchanges, 'exchange')}, first ${first}`

/** Findings of one caller that are listed. */
const OF_CALLER = 5

function callerLines({ caller, exchanges, findings }: CallerTally): readonly string[] {
  const own = findings.filter(({ kind }) => kind !== 'answer' && kind !== 'invalid' && kind !== 'changes')
  return [
    `  ${caller}: ${count(exchanges, 'exchange')}${own.length === 0 ? ', ready to upgrade' : ''}`,
    ...own
      .slice(0, OF_CALLER)
      .map(({ kind, operation, field, detail, exchanges: times }) => `    ${kind} ${operation} ${field} ${detail}: ${times}`),
    ...rest(own.length, OF_CALLER).map((line) => `  ${line}`),
  ]
}
