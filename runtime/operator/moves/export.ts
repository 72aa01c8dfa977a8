/** Writes everything of a tenant into a folder: a manifest, and a file of JSON lines for each table. */
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { CardKeys } from '../../cards/card-keys/card-keys.ts'
import type { Database } from '../../database/database.ts'
import { describeRelease, readRelease } from '../../platform/release.ts'
import { ControlError, isoTime } from '../../tenants/admin/change.ts'
import { requireTenant } from '../../tenants/admin/tenants.ts'
import { openCardKeys, sealForExport } from './card-numbers.ts'
import { rangeRowsOf, readSnapshot, summarizeTable } from './copy.ts'
import { type Installation, newestMigration, pepperOf } from './installations.ts'
import { type RowKey, readLines } from './rows.ts'
import { secretColumnsOf } from './sealed-columns.ts'
import {
  beginAtSource,
  type Kept,
  leave,
  type MoveRun,
  readKept,
  unfence,
  waitForSending,
  whileFenced,
} from './source.ts'
import { listMovedTables, listSpaces, type MovedColumn, type MovedTable, ownersOf } from './tables.ts'

/** Version of the format. docs/operations/move.md describes it. */
export const EXPORT_VERSION = 1

export interface ExportedTable {
  readonly schema: MovedTable['schema']
  readonly name: string
  readonly rows: number
  /** File in the folder; absent if the table has no rows of the tenant. */
  readonly file?: string
  /** SHA-256 of the file. */
  readonly sha256?: string
  /** SHA-256 of the rows, which an import computes again from its database. */
  readonly rows_sha256: string
  readonly columns: readonly MovedColumn[]
  /** Columns that the file does not have, because they hold secrets. */
  readonly left_out: readonly string[]
}

/** The file `manifest.json`. */
export interface ExportManifest {
  readonly format: 'dateline-tenant'
  readonly version: typeof EXPORT_VERSION
  readonly exported_at: string
  readonly release: string
  /** Newest migration of the database. */
  readonly migration: string
  readonly tenant_id: string
  readonly name: string
  /** Values of `tenant_id` in the rows of each environment. The sandbox has one for each named sandbox. */
  readonly spaces: { readonly sandbox: readonly string[]; readonly live: readonly string[] }
  /** Whether secrets are in the files, sealed, or left out. */
  readonly secrets: 'sealed' | 'left_out'
  /** Whether the source stopped serving the tenant before the export. */
  readonly closed: boolean
  /** Check value of the pepper with which the secrets are sealed. */
  readonly pepper_check?: string
  /** What the target needs to begin work; only if the source is closed. */
  readonly kept?: Kept
  readonly tables: readonly ExportedTable[]
}

export interface ExportOptions {
  readonly folder: string
  /** Whether to keep secrets, sealed, so that the export can be imported. */
  readonly sealed: boolean
  /** Whether the source stops serving the tenant for good. */
  readonly close: boolean
  readonly maxPauseMs: number
}

export interface ExportedTenant {
  readonly tenant_id: string
  readonly folder: string
  readonly rows: number
  readonly files: number
  readonly closed: boolean
}

/** What becomes a file. */
interface TableExport {
  readonly table: MovedTable
  readonly owners: readonly string[]
  readonly path: string
  readonly leftOut: readonly string[]
  readonly change: (line: string) => Promise<string>
}

/** Writes the lines of a table, and returns the hash of the file. */
async function writeTable(
  db: Database,
  { table, owners, path, leftOut, change }: TableExport,
): Promise<string> {
  const hash = createHash('sha256')
  const file = createWriteStream(path, { mode: 0o600, flags: 'wx' })
  const limit = rangeRowsOf(table)
  for (const owner of owners) {
    let after: RowKey | undefined
    do {
      const found = await readLines(db, table, owner, { after }, { limit, leftOut })
      for (const { line } of found) {
        const text = `${await change(line)}\n`
        hash.update(text)
        if (!file.write(text)) await once(file, 'drain')
      }
      after = found.length < limit ? undefined : (JSON.parse(found.at(-1)!.key) as RowKey)
    } while (after !== undefined)
  }
  file.end()
  await once(file, 'finish')
  return hash.digest('hex')
}

/** Returns the function that seals card numbers of lines for an export. */
function sealing({ database, operator: { clock } }: Installation, table: MovedTable) {
  let keys: CardKeys | undefined
  return async (line: string): Promise<string> => {
    keys ??= openCardKeys(database, clock, 'this installation')
    const row = JSON.parse(line) as Record<string, string | number | boolean | null>
    const texts = table.columns.map(({ name }) => (row[name] === null ? null : String(row[name])))
    return JSON.stringify({ ...row, sealed: await sealForExport(database, keys, table, texts) })
  }
}

/** Writes the files of all tables, as of one moment. */
async function writeTables(
  here: Installation,
  db: Database,
  tenantId: string,
  { folder, sealed }: Pick<ExportOptions, 'folder' | 'sealed'>,
): Promise<Pick<ExportManifest, 'tables' | 'spaces'>> {
  const { copied } = await listMovedTables(db)
  const spaces = await listSpaces(db, tenantId)
  const tables: ExportedTable[] = []
  for (const table of copied) {
    const { schema, name, columns } = table
    const owners = ownersOf(table, tenantId, spaces)
    const { rows, sha256: hash } = await summarizeTable(db, table, owners)
    const leftOut = sealed ? [] : secretColumnsOf(table)
    const about = { schema, name, rows, rows_sha256: hash, columns, left_out: leftOut }
    const file = `${schema}.${name}.jsonl`
    const change = sealed && name === 'card_numbers' ? sealing(here, table) : async (line: string) => line
    const written = rows > 0 && { table, owners, path: join(folder, file), leftOut, change }
    tables.push(written ? { ...about, file, sha256: await writeTable(db, written) } : about)
  }
  return { tables, spaces: { sandbox: spaces, live: [tenantId] } }
}

async function writeFolder(
  here: Installation,
  tenantId: string,
  options: ExportOptions,
  kept: Kept | undefined,
): Promise<ExportedTenant> {
  const { control } = here.operator
  const { folder, sealed } = options
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o700 })
  const { name } = await requireTenant(control, tenantId)
  const check = sealed ? await pepperOf(here) : undefined
  const written = await readSnapshot(control, (db) =>
    writeTables(here, db, tenantId, { folder: partial, sealed }),
  )
  const manifest: ExportManifest = {
    format: 'dateline-tenant',
    version: EXPORT_VERSION,
    exported_at: isoTime(here.operator.clock.machine()),
    release: describeRelease(readRelease()),
    migration: newestMigration(),
    tenant_id: tenantId,
    name,
    secrets: sealed ? 'sealed' : 'left_out',
    closed: kept !== undefined,
    ...(check === undefined ? {} : { pepper_check: check }),
    ...(kept && { kept }),
    ...written,
  }
  await writeFile(join(partial, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  await rename(partial, folder)
  return {
    tenant_id: tenantId,
    folder: basename(folder),
    rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    files: manifest.tables.filter(({ file }) => file !== undefined).length + 1,
    closed: manifest.closed,
  }
}

/** Exports after the tenant is closed, and leaves it closed. */
async function exportClosed(
  here: Installation,
  run: MoveRun,
  options: ExportOptions,
): Promise<ExportedTenant> {
  const { operator } = here
  const { control } = operator
  const tables = await listMovedTables(control)
  const write = async () => writeFolder(here, run.tenantId, options, await readKept(control, run.tenantId))
  const state = await beginAtSource(operator, run, undefined)
  if (state === 'moved') return write()
  if (state === 'fenced') await unfence(operator, run, tables)
  return whileFenced(operator, run, tables, async () => {
    const until = performance.now() + options.maxPauseMs
    if (!(await waitForSending(operator, await listSpaces(control, run.tenantId), until)))
      throw new ControlError('refused', 'webhooks are still being sent: run the command again')
    const exported = await write()
    await leave(operator, run)
    return exported
  })
}

/**
 * Exports a tenant into a new folder. If the command is killed, the folder does not exist, and the command can be repeated.
 *
 * @throws ControlError `conflict` if the folder exists.
 */
export function exportTenant(
  here: Installation,
  tenantId: string,
  options: ExportOptions,
): Promise<ExportedTenant> {
  if (existsSync(options.folder))
    throw new ControlError('conflict', `${options.folder} exists: name a folder that does not`)
  if (!options.close) return writeFolder(here, tenantId, options, undefined)
  return exportClosed(here, { tenantId, id: randomUUID() }, options)
}
