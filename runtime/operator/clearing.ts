/** Operations on clearing files and on messages of the card network that could not take effect. */
import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { createCardKeys } from '../cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../cards/card-keys/directory.ts'
import { findByDigest } from '../cards/card-keys/directory-queries.ts'
import { FORMAT_NAMES, FORMATS, type FormatName } from '../cards/clearing/formats.ts'
import { type ImportParts, importFile } from '../cards/clearing/import.ts'
import { type ClearingFileRow, listFiles } from '../cards/clearing/queries.ts'
import { type Reconciliation, reconcile } from '../cards/clearing/reconcile.ts'
import { ClearingFileError } from '../cards/clearing/records.ts'
import {
  EXCEPTION_COLUMNS,
  EXCEPTION_TABLES,
  type ExceptionRow,
  resolveException,
  retryException,
} from '../cards/clearing/retry.ts'
import { EXCEPTION_REASONS } from '../cards/network/exceptions.ts'
import type { Database } from '../database/database.ts'
import { codeOf, messageOf } from '../database/errors.ts'
import { openDatabase } from '../database/open/open-database.ts'
import type { Environment } from '../platform/environment.ts'
import { readSettings } from '../platform/settings.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { createClock } from '../tenants/clock/clock.ts'

/** Transactions of three tenants at the same time, the progress, and lookups. */
const POOL_SIZE = 12

/**
 * Opens the database with the rights of the role `network`, whether or not the service is running, runs one action and closes
 * the database. Throws an Error if the process cannot open the keys of card numbers.
 */
export async function withClearing<T>(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  action: (parts: ImportParts) => Promise<T>,
): Promise<T> {
  const settings = readSettings(env, { roles: ['network'] })
  const database = await openDatabase({ ...settings, poolSize: POOL_SIZE }, say)
  try {
    const room = database.cards
    if (!room)
      throw new ControlError(
        'refused',
        'This process has no SVC_CARD_SECRET, so it cannot find cards by number.',
      )
    const clock = createClock()
    await clock.refresh(database.control)
    const keys = createCardKeys(room, clock)
    return await action({
      ...{ database, clock, rates: settings.rates, digest: keys.digest },
      cards: createCardDirectory(room.pool, keys),
      findByDigest: (environment, digest) => findByDigest(room.pool, environment, digest),
      // Workers find the events within half a second.
      wakeUpChannel: { publish: () => {} },
    })
  } finally {
    await database.close()
  }
}

function formatOf(path: string, given: FormatName | undefined): FormatName {
  const extension = extname(path).slice(1)
  const format = given ?? FORMAT_NAMES.find((name) => name === extension)
  if (format) return format
  throw new ControlError(
    'invalid',
    `${path} ends in none of ${FORMAT_NAMES.join(', ')}: give the format with --format`,
  )
}

const showFile = <File extends ClearingFileRow>(file: File) => ({
  ...file,
  status: file.imported === null ? 'importing' : 'imported',
  created: isoTime(file.created),
  imported: isoTime(file.imported),
})

/** Imports a clearing file, or continues its import. Throws `refused` if the file as a whole cannot be imported. */
export async function importClearingFile(
  parts: ImportParts,
  path: string,
  given: FormatName | undefined,
  say: (line: string) => void,
): Promise<object> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new ControlError('invalid', `${path} is not a file`)
  const report = ({ lines, records, exceptions }: ClearingFileRow) =>
    say(`${lines} of ${records} lines, ${exceptions} exceptions`)
  try {
    const { file, wasImported } = await importFile(parts, path, FORMATS[formatOf(path, given)], { report })
    return { already_imported: wasImported, ...showFile(file) }
  } catch (error) {
    if (error instanceof ClearingFileError) throw new ControlError('refused', error.message, { cause: error })
    throw error
  }
}

/** Maximum number of listed files and exceptions. */
const MAX_LISTED = 1000

/** Returns the newest files with their progress. With an ID, throws `not_found` if no environment has the file. */
export async function showClearingFiles({ control }: Operator, id: string | undefined): Promise<object> {
  const files = await listFiles(control, id, MAX_LISTED)
  if (id !== undefined && files.length === 0)
    throw new ControlError('not_found', `no file ${id} was imported`)
  return { files: files.map(showFile) }
}

const listStatement = (onlyOpen: boolean) => ({
  text: `SELECT ${EXCEPTION_COLUMNS} FROM ${EXCEPTION_TABLES}
          ${onlyOpen ? 'WHERE e.resolved IS NULL' : ''} ORDER BY e.created DESC, e.id DESC LIMIT $1`,
})

const showException = ({ card_digest: _, message, business_date, ...row }: ExceptionRow) => ({
  ...row,
  amount: message?.amount ?? null,
  business_date,
  what_to_do: EXCEPTION_REASONS[row.reason],
  created: isoTime(row.created),
  resolved: isoTime(row.resolved),
})

/** Returns exceptions, newest first, at most 1,000. */
export async function listExceptions({ control }: Operator, onlyOpen: boolean): Promise<object> {
  const { rows } = await control.query<ExceptionRow>(listStatement(onlyOpen), [MAX_LISTED])
  return { exceptions: rows.map(showException) }
}

const READ = { text: `SELECT ${EXCEPTION_COLUMNS} FROM ${EXCEPTION_TABLES} WHERE e.id = $1` }

async function requireOpen(control: Database, id: string): Promise<ExceptionRow> {
  const [row] = (await control.query<ExceptionRow>(READ, [id])).rows
  if (!row) throw new ControlError('not_found', `there is no exception ${id}`)
  if (row.resolved !== null)
    throw new ControlError('conflict', `${id} was resolved on ${isoTime(row.resolved)}: ${row.note}`)
  return row
}

/** Marks an open exception as resolved. Throws `not_found` or `conflict`. */
export async function noteException({ control, clock }: Operator, id: string, note: string): Promise<object> {
  const row = await requireOpen(control, id)
  await resolveException(control, clock, row, note)
  return showException(await requireRow(control, id))
}

async function requireRow(control: Database, id: string): Promise<ExceptionRow> {
  return (await control.query<ExceptionRow>(READ, [id])).rows[0]!
}

/** Applies the message of an open exception again. Throws `refused` with the reason if it cannot take effect. */
export async function retryOpenException(parts: ImportParts, id: string): Promise<object> {
  const { control } = parts.database
  const outcome = await retryException(parts, await requireOpen(control, id))
  if (outcome !== 'applied')
    throw new ControlError(
      'refused',
      `${id} cannot take effect: ${outcome.detail} ${EXCEPTION_REASONS[outcome.reason]}`,
    )
  return showException(await requireRow(control, id))
}

/** Compares a day with the network's settlement report. Throws `refused` if the report cannot be read. */
export async function reconcileDay(
  { control }: Operator,
  environment: Environment,
  date: string,
  path: string,
): Promise<Reconciliation> {
  try {
    return await reconcile(control, environment, date, path)
  } catch (error) {
    if (error instanceof ClearingFileError || error instanceof SyntaxError || codeOf(error) === 'ENOENT')
      throw new ControlError('refused', messageOf(error), { cause: error })
    throw error
  }
}

/** Throws `broken` with the number of differences, if there are any. */
export function requireReconciled({ date, differences }: Reconciliation): void {
  if (differences.length > 0)
    throw new ControlError('broken', `${differences.length} differences from the network’s report of ${date}`)
}
