/** Reads an exported tenant into this installation. */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf } from '../../database/errors.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import { arrivalOf, arrive, beginArrival, closeSpaces, discard } from './arrival.ts'
import { resealImported } from './card-numbers.ts'
import { type CopyTarget, readSnapshot, summarizeTable } from './copy.ts'
import { EXPORT_VERSION, type ExportedTable, type ExportManifest } from './export.ts'
import { type Installation, newestMigration, pepperOf } from './installations.ts'
import { rowsOfLines, writeRows } from './rows.ts'
import type { Kept } from './source.ts'
import { listMovedTables, type MovedTable, ownersOf } from './tables.ts'

export interface ImportedTenant {
  readonly tenant_id: string
  readonly rows: number
}

/** Lines that one statement writes. */
const BATCH = 200

const refuse = (message: string) => new ControlError('refused', message)

function readManifest(folder: string): ExportManifest {
  const path = join(folder, 'manifest.json')
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ExportManifest
  } catch (cause) {
    throw new ControlError('invalid', `${path}: expected the manifest of an export: ${messageOf(cause)}`, {
      cause,
    })
  }
}

/** Checks that this installation can take the export. @returns what opens the tenant. */
function requireFit(manifest: ExportManifest, check: string | undefined): Kept {
  const { format, version, migration, secrets, kept } = manifest
  if (format !== 'dateline-tenant' || version !== EXPORT_VERSION)
    throw refuse(`the export has the format ${format} ${version}: expected dateline-tenant ${EXPORT_VERSION}`)
  if (migration !== newestMigration())
    throw refuse(
      `the export is at ${migration}, and this installation at ${newestMigration()}: export it again with the same release`,
    )
  if (secrets !== 'sealed')
    throw refuse(
      'the export has no secrets, so that nothing would work: export the tenant with --sealed --close',
    )
  if (kept === undefined)
    throw refuse(
      'the source still serves the tenant, and both would send its webhooks: export it with --sealed --close',
    )
  if (manifest.pepper_check !== check)
    throw refuse(
      'the secrets of the export are sealed with a different SVC_PEPPER: both installations need the same one',
    )
  return kept
}

/** Checks the hash of every file before anything is written. */
async function checkFiles(folder: string, tables: readonly ExportedTable[]): Promise<void> {
  for (const { file, sha256 } of tables) {
    if (file === undefined) continue
    const hash = createHash('sha256')
    for await (const part of createReadStream(join(folder, file))) hash.update(part as Buffer)
    if (hash.digest('hex') !== sha256)
      throw refuse(`${file} differs from its hash in the manifest: the export is damaged or was changed`)
  }
}

async function* batchesOf(path: string): AsyncGenerator<readonly string[]> {
  let batch: string[] = []
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    batch.push(line)
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

async function readTable(path: string, table: MovedTable, arrival: CopyTarget): Promise<void> {
  for await (const lines of batchesOf(path)) {
    await arrival.transaction(async (db) => {
      const rows = await rowsOfLines(db, table, lines)
      await writeRows(db, table, await arrival.reseal(table, rows))
    })
  }
}

const isOf = (one: { readonly schema: string; readonly name: string }) => (other: ExportedTable) =>
  one.schema === other.schema && one.name === other.name

/**
 * Imports a tenant. It is served only when everything is imported and compared with the hashes of the export. If the command
 * is killed, the next run begins again.
 *
 * @throws ControlError if the export does not fit, is damaged, or if the tenant exists.
 */
export async function importTenant(here: Installation, folder: string): Promise<ImportedTenant> {
  const manifest = readManifest(folder)
  const { tenant_id: tenantId, spaces, tables: exported } = manifest
  const kept = requireFit(manifest, await pepperOf(here))
  await checkFiles(folder, exported)
  const { operator, database } = here
  const run = { tenantId, id: randomUUID() }
  const tables = await listMovedTables(operator.control)
  await beginArrival(operator, run)
  await closeSpaces(operator, run, spaces.sandbox)
  const arrival = arrivalOf(operator, run, resealImported(database, operator.clock))
  await arrival.transaction((db) => discard(db, tenantId, tables))
  for (const table of tables.copied) {
    const { file } = exported.find(isOf(table)) ?? {}
    if (file !== undefined) await readTable(join(folder, file), table, arrival)
  }
  await readSnapshot(operator.control, async (db) => {
    for (const table of tables.copied) {
      const { sha256 } = await summarizeTable(db, table, ownersOf(table, tenantId, spaces.sandbox))
      if (sha256 === exported.find(isOf(table))?.rows_sha256) continue
      throw refuse(
        `the imported rows of ${table.schema}.${table.name} differ from the hash in the manifest: the tenant stays closed. Run the command again`,
      )
    }
  })
  await arrive(operator, run, kept, tables)
  return { tenant_id: tenantId, rows: exported.reduce((sum, { rows }) => sum + rows, 0) }
}
