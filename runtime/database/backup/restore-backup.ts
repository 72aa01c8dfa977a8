/** Restores a backup of the embedded PostgreSQL into a new data directory (PostgreSQL documentation, section 25.3.5). */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import pg from 'pg'
import { canEnter, serverAccount } from '../embedded/account.ts'
import { archiveInto, restoreCommand, walFolderOf } from '../embedded/archive.ts'
import { openCluster } from '../embedded/cluster.ts'
import { stopPostmaster } from '../embedded/postmaster.ts'
import { connectionTo } from '../embedded/server.ts'
import { shelterForData } from '../embedded/shelter.ts'
import { type ServerParameters, startPostmaster } from '../embedded/start.ts'
import { messageOf } from '../errors.ts'
import { migrate } from '../migrate/migrate.ts'
import { clientConfig } from '../pool/connection.ts'
import { type BackupManifest, baseFolderOf, chooseBackup, listBackups } from './backup-folder.ts'
import { copyFiles } from './checked-copy.ts'
import { recordRestore } from './restored.ts'

export interface RestoreOptions {
  /** Backup folder. */
  readonly folder: string
  /** New data directory: it must not exist, or be empty. */
  readonly dataDir: string
  /** Time to restore to, in milliseconds since the epoch. Default: the end of the archive. */
  readonly to?: number | undefined
  /** Default: the newest backup that ended before the time. */
  readonly backup?: string | undefined
  /** Timeline to follow. Default: the newest one. */
  readonly timeline?: number | undefined
  /** `pg_wal` of the lost server, which has the changes that were not archived yet. */
  readonly wal?: string | undefined
  /** Folder that the restored server archives to, if the settings name one. */
  readonly backupDir?: string | undefined
  /** Default: the pepper in the backup. */
  readonly pepper?: string | undefined
  readonly say: (line: string) => void
}

export interface RestoredDatabase {
  readonly backup: string
  /** Time of the last change that was restored, in milliseconds since the epoch; without such a change, the end of the backup. */
  readonly restoredTo: number
  readonly timeline: number
}

/** Replaying an archive of days takes hours. */
const RECOVERY_TIMEOUT_MS = 24 * 3_600_000

/**
 * Restores a backup: checks and copies its files, replays the archive up to the time, and records in the database that it was
 * restored. The data directory appears complete or not at all. Throws if it is not empty, if a file differs from the manifest,
 * or if the archive ends before the time.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoredDatabase> {
  const { dataDir, folder } = options
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new Error(`${dataDir} is not empty: restore into a new DATA_DIR, or move the old one away`)
  const manifest = chooseBackup(listBackups(folder), { id: options.backup, to: options.to })
  options.say(`restoring backup ${manifest.id}, which ended at ${manifest.ended}`)
  mkdirSync(dirname(dataDir), { recursive: true })
  const unfinished = join(
    dirname(dataDir),
    `${basename(dataDir)}.restoring-${randomBytes(4).toString('hex')}`,
  )
  mkdirSync(unfinished, { mode: 0o700 })
  let outside: string | undefined
  try {
    outside = await layOut(unfinished, folder, manifest)
    const restored = await recover(unfinished, manifest, options)
    renameSync(unfinished, dataDir)
    return restored
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (outside !== undefined) await rm(outside, { recursive: true, force: true })
    throw error
  }
}

/**
 * Copies the files of a backup into a data directory, and compares them with the manifest. Returns the folder outside of it
 * that has PGDATA, if the PostgreSQL user cannot enter the data directory.
 */
async function layOut(
  dataDir: string,
  folder: string,
  manifest: BackupManifest,
): Promise<string | undefined> {
  const account = serverAccount()
  const home = join(dataDir, 'postgres')
  if (account) chmodSync(dataDir, 0o711)
  mkdirSync(home, { mode: account ? 0o711 : 0o700 })
  const outside = canEnter(account, home) ? undefined : shelterForData(dataDir)
  const data = join(outside ?? home, 'data')
  if (outside !== undefined) mkdirSync(outside, { mode: 0o711 })
  for (const path of ['', ...manifest.folders])
    await mkdir(join(data, path), { recursive: true, mode: 0o700 })
  const source = join(baseFolderOf(folder), manifest.id)
  await copyChecked(manifest, source, 'data', data)
  await copyChecked(manifest, source, 'files', dataDir)
  const connection = join(home, 'connection.json')
  const stored: object = JSON.parse(readFileSync(connection, 'utf8'))
  const place = outside === undefined ? 'data' : data
  await writeFile(connection, `${JSON.stringify({ ...stored, data: place }, undefined, 2)}\n`, {
    mode: 0o600,
  })
  await writeFile(join(data, 'recovery.signal'), '', { mode: 0o600 })
  if (account) giveTo(data, account)
  return outside
}

async function copyChecked(
  { id, files }: BackupManifest,
  source: string,
  part: 'data' | 'files',
  target: string,
): Promise<void> {
  const prefix = `${part}/`
  const paths = Object.keys(files).filter((path) => path.startsWith(prefix))
  const own = paths.map((path) => path.slice(prefix.length))
  await copyFiles(own, join(source, part), target, (path, record) => {
    const wanted = files[`${prefix}${path}`]
    if (record?.size === wanted?.size && record?.sha256 === wanted?.sha256) return
    const what = record ? 'differs from its checksum in the manifest' : 'is missing'
    throw new Error(`backup ${id} is damaged: ${prefix}${path} ${what}; use a different backup (--backup)`)
  })
}

function giveTo(folder: string, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  chownSync(folder, uid, gid)
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, gid)
}

/** Replays the archive, and brings the database up to this version of the service. */
async function recover(
  dataDir: string,
  manifest: BackupManifest,
  options: RestoreOptions,
): Promise<RestoredDatabase> {
  const cluster = await openCluster(dataDir, options.say)
  const pepper = options.pepper ?? readPepper(dataDir)
  const archive = options.backupDir === undefined ? {} : archiveInto(options.backupDir, cluster.account)
  const parameters = { ...archive, ...recoveryOf(options) }
  const starting = startPostmaster(cluster, dataDir, 0, parameters, RECOVERY_TIMEOUT_MS)
  const postmaster = await starting.catch((error) => Promise.reject(explainEnd(error, options)))
  try {
    const connection = connectionTo(cluster, postmaster)
    const client = new pg.Client(clientConfig(connection, 'svc restore'))
    client.on('error', () => {}) // the running statement fails
    try {
      await client.connect()
      const restoredTo = (await readReplayed(client)) ?? Date.parse(manifest.ended)
      await migrate(connection, pepper, { say: options.say })
      const timeline = await recordRestore(client, restoredTo)
      return { backup: manifest.id, restoredTo, timeline }
    } finally {
      await client.end()
    }
  } finally {
    await stopPostmaster(postmaster.pid, cluster.data)
  }
}

/** Returns an error that says where the archive ends, if it ends before the time to restore to. */
function explainEnd(error: unknown, { to, wal }: RestoreOptions): unknown {
  const output = messageOf(error)
  if (to === undefined || !output.includes('recovery ended before configured recovery target was reached'))
    return error
  const [, last] = /last completed transaction was at log time (.+)/.exec(output) ?? []
  const end = last === undefined ? 'it has no change after the backup' : `its last change is of ${last}`
  const hint = wal === undefined ? ', or name the pg_wal folder of the lost server with --pg-wal' : ''
  return new Error(
    `the archive ends before ${new Date(to).toISOString()}: ${end}. Restore to an earlier time, or without --to to its end${hint}`,
    { cause: error },
  )
}

function recoveryOf({ folder, wal, to, timeline }: RestoreOptions): ServerParameters {
  const folders = [walFolderOf(folder), ...(wal === undefined ? [] : [wal])]
  return {
    hot_standby: 'off',
    restore_command: restoreCommand(folders),
    recovery_target_timeline: timeline === undefined ? 'latest' : `${timeline}`,
    ...(to !== undefined && {
      // PostgreSQL takes no time zone abbreviation here, such as Z.
      recovery_target_time: new Date(to).toISOString().replace('Z', '+00'),
      recovery_target_action: 'promote',
    }),
  }
}

function readPepper(dataDir: string): string {
  const path = join(dataDir, 'pepper')
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  throw new Error('the backup contains no pepper, because the service had it from SVC_PEPPER: set SVC_PEPPER')
}

/** Returns the time of the last transaction that was replayed, in milliseconds since the epoch. */
async function readReplayed(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ at: number | null }>(
    'SELECT extract(epoch FROM pg_last_xact_replay_timestamp())::float8 * 1000 AS at',
  )
  return rows[0]?.at ?? undefined
}
