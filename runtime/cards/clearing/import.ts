/**
 * Imports clearing files. A file is verified as a whole, then applied in windows of lines. The progress is stored after each
 * window. A process that is killed continues with the window that it was in, whose lines take effect once by their message
 * IDs.
 */
import type { Environment } from '../../platform/environment.ts'
import { createFairQueue } from '../../platform/fairness/fair-queue.ts'
import type { CardKeys } from '../card-keys/card-keys.ts'
import { type NewException, recordExceptions } from '../network/exceptions.ts'
import type { CardDirectory, FoundCard } from '../network/network.ts'
import { type ApplyParts, allEnded, applyLines, type LineOfCard, type LineOutcome } from './apply-lines.ts'
import type { FileFormat, FilePart } from './format.ts'
import { advanceFile, beginFile, type ClearingFileRow, type FileProgress } from './queries.ts'
import { ClearingFileError, type ClearingLine, type FaultyLine, readRecord } from './records.ts'
import { retryWaiting } from './retry.ts'
import { readBytes, type VerifiedFile, verifyFile } from './verify.ts'

export interface ImportParts extends ApplyParts {
  readonly cards: CardDirectory
  readonly digest: CardKeys['digest']
  readonly findByDigest: (environment: Environment, digest: Buffer) => Promise<FoundCard | undefined>
}

export interface ImportOptions {
  /** Lines after which the progress is stored. */
  readonly window?: number
  /** Lines of one transaction. */
  readonly batch?: number
  /** Transactions at the same time. */
  readonly concurrency?: number
  /** Receives the progress after each window. */
  readonly report?: (row: ClearingFileRow) => void
}

const DEFAULTS = { window: 10_000, batch: 500, concurrency: 3, report: () => {} }

export interface ImportResult {
  readonly file: ClearingFileRow
  /** Whether the file was imported before, so that nothing was done. */
  readonly wasImported: boolean
}

/**
 * Imports a file, or continues its import.
 * @throws {ClearingFileError} if the file as a whole cannot be imported. Nothing of it is applied then.
 */
export async function importFile(
  parts: ImportParts,
  path: string,
  format: FileFormat,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const verified = await verifyFile(path, format)
  const { header, trailer } = verified
  const { database, clock } = parts
  const begun = await beginFile(database.control, verified, format.name, clock.machine())
  if (begun.sha256 !== trailer.sha256 || begun.format !== format.name)
    throw new ClearingFileError(
      `A different file with the ID ${header.fileId} was imported on ${new Date(begun.created).toISOString()}. Ask the network which of the two is right.`,
    )
  if (begun.imported !== null) return { file: begun, wasImported: true }
  return {
    file: await applyFile(parts, path, format, verified, begun, { ...DEFAULTS, ...options }),
    wasImported: false,
  }
}

/** Lines that are applied before the progress is stored. */
interface LineWindow extends FileProgress {
  readonly records: readonly (ClearingLine | FaultyLine)[]
}

async function applyFile(
  parts: ImportParts,
  path: string,
  format: FileFormat,
  { headerBytes }: VerifiedFile,
  begun: ClearingFileRow,
  options: Required<ImportOptions>,
): Promise<ClearingFileRow> {
  const { control } = parts.database
  const bytes = continued(headerBytes, readBytes(path, begun.position))
  let file = begun
  const advance = async (to: FileProgress, exceptions: number, imported: number | null) => {
    if (!(await advanceFile(control, file, file, { ...to, exceptions, imported })))
      throw new ClearingFileError(`Another process imports the file ${file.id}. Wait until it has ended.`)
    const { lines, position } = to
    file = { ...file, lines, position, exceptions: file.exceptions + exceptions, imported }
    options.report(file)
  }
  const takeTurn = createTurns(options.concurrency)
  // Each window begins while the one before it ends: tenants with many lines are still at work then.
  let ended: Promise<unknown> = Promise.resolve()
  try {
    for await (const window of readWindows(format.read(bytes), begun, headerBytes.length, options.window)) {
      const [before, placed] = [ended, await placeWindow(parts, file, window)]
      const applied = applyWindow(parts, file, placed, options.batch, takeTurn)
      ended = allEnded([applied, before]).then(async ([exceptions]) => {
        await recordExceptions(control, parts.digest, exceptions, parts.clock.machine())
        await advance(window, exceptions.length, null)
      })
      ended.catch(() => {}) // until it is awaited
      await before
    }
  } finally {
    await ended
  }
  await retryWaiting(parts, file)
  await advance(file, 0, parts.clock.machine())
  return file
}

async function* continued(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head
  yield* rest
}

/** @param skipped number of bytes before the position `from`, which the parts repeat: those of the header. */
async function* readWindows(
  fileParts: AsyncGenerator<FilePart>,
  from: FileProgress,
  skipped: number,
  size: number,
): AsyncGenerator<LineWindow> {
  let { lines, position } = { ...from, position: from.position - skipped }
  let records: (ClearingLine | FaultyLine)[] = []
  for await (const part of fileParts) {
    if (part.type === 'trailer') break
    position += part.bytes.length
    if (part.type === 'filling' || (part.type === 'header' && position === from.position)) continue
    lines += 1
    records.push(await readRecord(part, lines))
    if (records.length < size) continue
    yield { lines, position, records }
    records = []
  }
  if (records.length > 0) yield { lines, position, records }
}

/** A window whose cards are found. */
interface PlacedWindow {
  readonly lines: readonly LineOfCard[]
  /** Lines that cannot be applied. */
  readonly exceptions: readonly NewException[]
}

/** Cards that are looked up at once: a connection is free for each soon, even on a busy database. */
const LOOKUPS = 500

/** Finds the cards of the lines. */
async function placeWindow(
  { cards }: ImportParts,
  file: ClearingFileRow,
  { records }: LineWindow,
): Promise<PlacedWindow> {
  const [lines, exceptions]: [LineOfCard[], NewException[]] = [[], []]
  for (let start = 0; start < records.length; start += LOOKUPS) {
    const some = records.slice(start, start + LOOKUPS)
    const found = await Promise.all(
      some.map((record) =>
        'fault' in record ? undefined : cards.find(file.environment, record.content.message.card_number),
      ),
    )
    for (const [index, record] of some.entries()) {
      const card = found[index]
      if ('fault' in record) exceptions.push(exceptionOf(file, record.line, record.fault))
      else if (card) lines.push({ ...record, ...card })
      else exceptions.push(exceptionOf(file, record.line, UNKNOWN_CARD, record))
    }
  }
  return { lines, exceptions }
}

/** Applies the lines of a window and returns the exceptions among them. Takes the turns at once, so in order. */
async function applyWindow(
  parts: ImportParts,
  file: ClearingFileRow,
  { lines: placed, exceptions: found }: PlacedWindow,
  batch: number,
  takeTurn: TakeTurn,
): Promise<readonly NewException[]> {
  const exceptions = [...found]
  const { environment, id: fileId, business_date: businessDate } = file
  await allEnded(
    [...Map.groupBy(placed, ({ space }) => space)].map(([space, ofTenant]) =>
      takeTurn(space, async () => {
        for (let start = 0; start < ofTenant.length; start += batch) {
          const lines = ofTenant.slice(start, start + batch)
          const outcomes = await applyLines(parts, { environment, fileId, businessDate }, lines)
          for (const each of lines) {
            const outcome = outcomes.get(each.line)!
            if (outcome !== 'applied') exceptions.push(exceptionOf(file, each.line, outcome, each))
          }
        }
      }),
    ),
  )
  return exceptions
}

function exceptionOf(
  { environment, id: fileId }: ClearingFileRow,
  line: number,
  outcome: Exclude<LineOutcome, 'applied'>,
  { content, category }: Partial<ClearingLine> = {},
): NewException {
  const { kind, message } = content ?? {}
  return { ...outcome, environment, kind, message, category, place: { fileId, line } }
}

const UNKNOWN_CARD = {
  reason: 'unknown_card',
  detail: 'No card has this number.',
  field: 'card_number',
} as const

type TakeTurn = (space: string, work: () => Promise<void>) => Promise<void>

/** Does the work of some tenants at the same time, and that of one tenant in order. After a failure, no work begins. */
function createTurns(places: number): TakeTurn {
  const queue = createFairQueue({ places, share: 1 })
  let failure: { readonly reason: unknown } | undefined
  return async (space, work) => {
    await new Promise<void>((start) => queue.acquire(space, start))
    try {
      if (failure) throw failure.reason
      await work()
    } catch (reason) {
      failure ??= { reason }
      throw reason
    } finally {
      queue.release(space)
    }
  }
}
