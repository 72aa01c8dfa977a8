/** `replay`: reports what an upgrade would change for the callers of recorded traffic. */
import { createReadStream, existsSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type OnRecord, splitHar, splitLines } from '../replay/records.ts'
import { type BadRecord, createReplayer, LISTED, type ReplayCounts } from '../replay/replayer.ts'
import type { ReplayKind } from '../runtime/replay.ts'
import {
  type CallerTally,
  createTally,
  KINDS,
  type ReplayFinding,
  type ReplayTally,
} from '../runtime/replay-tally.ts'
import { createBatches, startThreads } from './replay-threads.ts'
import { loadVersions, type ReplayCommandOptions, readingOf } from './replay-versions.ts'
import { type CommandOutcome, type CommandRun, count, FINDINGS, OK, UsageError } from './run.ts'

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
  const versions = await loadVersions(run, options)
  const reading = readingOf(run.config, options)
  const here = createReplayer(versions, reading)
  const threads = startThreads(files, { config: run.file, options })
  let order = 0
  for (const file of files) {
    const traffic = { file, isHar: /\.har(\.gz)?$/i.test(file) }
    const batches = createBatches(traffic, here, threads)
    const onRecord: OnRecord = (record, at) => {
      batches.add(record, at, ++order)
      if (order % 10_000 === 0) run.terminal.status?.(`replayed ${order} exchanges`)
    }
    const splitter = (traffic.isHar ? splitHar : splitLines)(onRecord)
    await readFile(file, (chunk) => {
      splitter.push(chunk)
      return batches.flush()
    })
    splitter.end()
    await batches.flush()
  }
  const all = [here.result(), ...(await Promise.all(threads.map((thread) => thread.end())))]
  run.terminal.status?.('')
  const [from, to] = [versions.apis[0]!.version, versions.apis.at(-1)!.version]
  const tally = createTally()
  for (const { callers } of all) tally.merge(callers)
  const counts = sum(all.map((each) => each.counts))
  const bad = all
    .flatMap((each) => each.bad)
    .sort((a, b) => a.order - b.order)
    .slice(0, LISTED)
  const isUnfit = tally.findings().some(({ kind }) => kind === 'unfit')
  return {
    lines: printReplay(from, to, counts, bad, tally),
    data: {
      from,
      to,
      records: order,
      ...counts,
      badRecords: bad,
      findings: tally.findings(),
      callers: tally.callers(),
    },
    exit: isUnfit ? FINDINGS : OK,
  }
}

function sum(all: readonly ReplayCounts[]): ReplayCounts {
  const sumOf = (name: keyof ReplayCounts) => all.reduce((total, each) => total + each[name], 0)
  return {
    replayed: sumOf('replayed'),
    otherVersion: sumOf('otherVersion'),
    noOperation: sumOf('noOperation'),
    bad: sumOf('bad'),
  }
}

/** @param onChunk the next chunk is read when its promise resolves. */
async function readFile(file: string, onChunk: (chunk: Buffer) => Promise<void>): Promise<void> {
  const source = createReadStream(file, { highWaterMark: 1024 * 1024 })
  const consume = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await onChunk(chunk)
  }
  if (file.endsWith('.gz')) await pipeline(source, createGunzip(), consume)
  else await pipeline(source, consume)
}

const TITLES: Readonly<Record<ReplayKind, string>> = {
  unfit: 'Translated requests that the later version refuses: correct the changes',
  breaks: 'Breaks: the later version refuses the request as it is sent',
  silent: 'Silent: the later version accepts this as it is sent, but reads it otherwise',
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
  const own = findings.filter(({ kind }) => kind !== 'answer' && kind !== 'changes')
  return [
    `  ${caller}: ${count(exchanges, 'exchange')}${own.length === 0 ? ', nothing to change' : ''}`,
    ...own
      .slice(0, OF_CALLER)
      .map(
        ({ kind, operation, field, detail, exchanges: times }) =>
          `    ${kind} ${operation} ${field} ${detail}: ${times}`,
      ),
    ...rest(own.length, OF_CALLER).map((line) => `  ${line}`),
  ]
}
