/** Takes base backups of the embedded PostgreSQL while it runs (PostgreSQL documentation, section 25.3.4). */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { copyFile as copyPlain, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import pg from 'pg'
import { walFolderOf } from '../embedded/archive.ts'
import { findCluster } from '../embedded/cluster.ts'
import { acquireServer } from '../embedded/server.ts'
import { clientConfig } from '../pool/connection.ts'
import {
  type BackupManifest,
  baseFolderOf,
  chooseExpired,
  type FileRecord,
  listArchive,
  listBackups,
  MANIFEST,
  segmentsBetween,
  UNFINISHED_BACKUP,
} from './backup-folder.ts'
import { copyFile, copyFiles, listFolder, syncFiles } from './checked-copy.ts'

export interface BackupOptions {
  readonly dataDir: string
  /** Backup folder. It is created if necessary. */
  readonly folder: string
  /** Number of base backups to keep. Default: all. */
  readonly keep?: number | undefined
  /** Folder that the service archives to, if the settings name one. */
  readonly backupDir?: string | undefined
  readonly say: (line: string) => void
}

export interface TakenBackup {
  readonly manifest: BackupManifest
  /** Whether the server archives its WAL into the same folder. */
  readonly isArchiving: boolean
  readonly removed: { readonly backups: readonly string[]; readonly segments: number }
}

/** Content of PGDATA that a backup leaves out, because the server creates it again or it is copied separately. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|current_logfiles|(backup_label|tablespace_map)(\.old)?|(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/.+|(.*\/)?(pgsql_tmp.*|pg_internal\.init.*|t\d+_\d+.*))$/

/** The control file is copied last, so that it is not older than the files that it describes. */
const CONTROL_FILE = join('global', 'pg_control')

/** Files of the data directory that belong to one machine or one run. */
const NOT_OURS =
  /^(postgres|start\.lock.*|postgres\.log.*|postgres-unfinished-.*|postgres\/(?!connection\.json$).+)$/

/** Advisory lock of a running backup. */
const LOCK = '5031846216450274'

interface StartedBackup {
  readonly system: string
  readonly timeline: number
  readonly lsn: string
  readonly segment: string
}

/**
 * Takes a base backup. The server keeps running, or is started for the backup. Throws if there is no embedded database, or
 * if a different backup is being taken.
 */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const { dataDir, folder, say, keep, backupDir } = options
  const cluster = findCluster(dataDir)
  if (!cluster) throw new Error(`there is no embedded PostgreSQL in ${dataDir}: check DATA_DIR`)
  if (`${resolve(folder)}/`.startsWith(`${dataDir}/`))
    throw new Error(
      `${folder} is inside DATA_DIR, and would be lost with it: use a folder on a different disk`,
    )
  mkdirSync(baseFolderOf(folder), { recursive: true, mode: 0o711 })
  const server = await acquireServer({ dataDir, say, backupDir })
  try {
    const client = new pg.Client(clientConfig(server.connection(), 'svc backup'))
    client.on('error', () => {}) // the running statement fails
    try {
      await client.connect()
      const { rows } = await client.query<{ free: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS free`)
      if (!rows[0]?.free) throw new Error('a different backup is being taken: wait until it has ended')
      await removeUnfinished(folder)
      const manifest = await copyCluster(client, { data: cluster.data, dataDir, folder })
      await keepHistory(cluster.data, folder)
      const isArchiving = await archivesInto(client, folder)
      return { manifest, isArchiving, removed: await removeExpired(folder, keep) }
    } finally {
      await client.end()
    }
  } finally {
    await server.release()
  }
}

async function removeUnfinished(folder: string): Promise<void> {
  const base = baseFolderOf(folder)
  for (const name of readdirSync(base).filter((each) => each.endsWith(UNFINISHED_BACKUP)))
    await rm(join(base, name), { recursive: true, force: true })
}

interface CopiedPlaces {
  readonly data: string
  readonly dataDir: string
  readonly folder: string
}

/** Copies the cluster into an unfinished folder, and renames that at the end. */
async function copyCluster(client: pg.Client, places: CopiedPlaces): Promise<BackupManifest> {
  const started = new Date()
  const id = started.toISOString().replaceAll(/[-:.]/g, '')
  const base = baseFolderOf(places.folder)
  const target = join(base, `${id}${UNFINISHED_BACKUP}`)
  const files: Record<string, FileRecord> = {}
  await mkdir(target, { mode: 0o700 })
  // Keeps the WAL from the start of the backup on. The server drops the slot with this session.
  await client.query(
    `SELECT pg_create_physical_replication_slot('svc_backup_' || pg_backend_pid(), true, true)`,
  )
  const begun = await startBackup(client, id)
  const other = listBackups(places.folder).find(({ system }) => system !== begun.system)
  if (other)
    throw new Error(
      `${places.folder} contains backup ${other.id} of a different database: use a different folder`,
    )
  const data = await listFolder(places.data, (path) => !LEFT_OUT.test(path))
  await copyInto(join(target, 'data'), places.data, 'data', data.files, files)
  const { lsn, label } = await stopBackup(client)
  const ended = await segmentOf(client, lsn)
  await copyWal(places.data, join(target, 'data'), begun.segment, ended.segment, files)
  await writeLabel(join(target, 'data'), label, files)
  const others = await listFolder(places.dataDir, (path) => path === 'postgres' || !NOT_OURS.test(path))
  await copyInto(join(target, 'files'), places.dataDir, 'files', others.files, files)
  const manifest: BackupManifest = {
    ...{ format: 1, id, started: started.toISOString(), ended: ended.at, postgres: ended.major },
    ...{ system: begun.system, timeline: begun.timeline, start_lsn: begun.lsn, end_lsn: lsn },
    ...{ first_segment: begun.segment, folders: data.folders, files },
  }
  await writeFile(join(target, MANIFEST), `${JSON.stringify(manifest, undefined, 1)}\n`, {
    mode: 0o600,
  })
  await syncFiles(base)
  await rename(target, join(base, id))
  await syncFiles(base)
  return manifest
}

async function startBackup(client: pg.Client, id: string): Promise<StartedBackup> {
  const { rows } = await client.query<StartedBackup>(
    `SELECT s.lsn::text, pg_walfile_name(s.lsn) AS segment, c.system_identifier::text AS system,
            ('x' || substr(pg_walfile_name(s.lsn), 1, 8))::bit(32)::integer AS timeline
       FROM pg_backup_start($1, fast => true) AS s (lsn), pg_control_system() AS c`,
    [id],
  )
  return rows[0]!
}

async function stopBackup(client: pg.Client): Promise<{ readonly lsn: string; readonly label: string }> {
  const { rows } = await client.query<{ lsn: string; label: string; map: string }>(
    `SELECT lsn::text, labelfile AS label, spcmapfile AS map FROM pg_backup_stop(wait_for_archive => false)`,
  )
  const { lsn, label, map } = rows[0]!
  if (map.trim() !== '')
    throw new Error('the database has tablespaces, which admin backup does not copy: drop them')
  return { lsn, label }
}

async function segmentOf(client: pg.Client, lsn: string) {
  const { rows } = await client.query<{ segment: string; at: string; major: string }>(
    `SELECT pg_walfile_name($1::pg_lsn) AS segment, split_part(current_setting('server_version'), '.', 1) AS major,
            to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at`,
    [lsn],
  )
  return rows[0]!
}

async function copyInto(
  target: string,
  source: string,
  prefix: string,
  paths: readonly string[],
  files: Record<string, FileRecord>,
): Promise<void> {
  const note = (path: string, record: FileRecord | undefined) => {
    if (record) files[join(prefix, path)] = record
  }
  await copyFiles(
    paths.filter((path) => path !== CONTROL_FILE),
    source,
    target,
    note,
  )
  if (prefix === 'data')
    note(CONTROL_FILE, await copyFile(join(source, CONTROL_FILE), join(target, CONTROL_FILE)))
}

/** Copies the WAL that makes the copied files consistent, so that the backup can be restored without the archive. */
async function copyWal(
  data: string,
  target: string,
  first: string,
  last: string,
  files: Record<string, FileRecord>,
): Promise<void> {
  const names = segmentsBetween(readdirSync(join(data, 'pg_wal')), first, last)
  if (names[0] !== first || names.at(-1) !== last)
    throw new Error(`the WAL segments ${first} to ${last} are not in pg_wal: take the backup again`)
  const paths = names.map((name) => join('pg_wal', name))
  await copyFiles(paths, data, target, (path, record) => {
    if (!record)
      throw new Error(`the WAL segment ${basename(path)} was removed during the backup: take it again`)
    files[join('data', path)] = record
  })
}

/** Writes the label that tells a recovery where to begin. */
async function writeLabel(target: string, label: string, files: Record<string, FileRecord>): Promise<void> {
  await writeFile(join(target, 'backup_label'), label, { mode: 0o600 })
  const sha256 = createHash('sha256').update(label).digest('hex')
  files[join('data', 'backup_label')] = { size: Buffer.byteLength(label), sha256 }
}

/** Copies the files that list timelines, which are missing in the archive if a restored server did not archive at first. */
async function keepHistory(data: string, folder: string): Promise<void> {
  const archived = new Set(listArchive(folder))
  if (archived.size === 0) return
  const names = readdirSync(join(data, 'pg_wal')).filter((name) => name.endsWith('.history'))
  for (const name of names.filter((each) => !archived.has(each) && !archived.has(`${each}.gz`)))
    await copyPlain(join(data, 'pg_wal', name), join(walFolderOf(folder), name))
}

/** Returns whether the running server archives into the folder. */
async function archivesInto(client: pg.Client, folder: string): Promise<boolean> {
  const { rows } = await client.query<{ mode: string; command: string }>(
    `SELECT current_setting('archive_mode') AS mode, current_setting('archive_command') AS command`,
  )
  const { mode, command } = rows[0]!
  return mode === 'on' && command.includes(walFolderOf(folder).replaceAll('%', '%%'))
}

/** Deletes a backup. If the process is killed meanwhile, the rest counts as unfinished. */
async function removeBackup(path: string): Promise<void> {
  await rename(path, `${path}${UNFINISHED_BACKUP}`)
  await rm(`${path}${UNFINISHED_BACKUP}`, { recursive: true, force: true })
}

async function removeExpired(folder: string, keep: number | undefined): Promise<TakenBackup['removed']> {
  const wal = walFolderOf(folder)
  const archived = listArchive(folder)
  const { backups, segments } = chooseExpired(listBackups(folder), archived, keep ?? Number.POSITIVE_INFINITY)
  for (const { id } of backups) await removeBackup(join(baseFolderOf(folder), id))
  for (const name of segments) await rm(join(wal, name), { force: true })
  return { backups: backups.map(({ id }) => id), segments: segments.length }
}
