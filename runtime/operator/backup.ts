/** Backups of the embedded PostgreSQL, as operators see them. */
import { type BackupManifest, listBackups, sizeOf } from '../database/backup/backup-folder.ts'
import { type RestoreOptions, restoreBackup } from '../database/backup/restore-backup.ts'
import { takeBackup } from '../database/backup/take-backup.ts'
import type { Settings } from '../platform/settings.ts'
import { ControlError, isoTime } from '../tenants/admin/change.ts'

type BackupSettings = Pick<Settings, 'databaseUrl' | 'dataDir' | 'backupDir' | 'pepper'>

const summarize = (manifest: BackupManifest) => {
  const { id, started, ended, timeline, files } = manifest
  return { id, started, ended, timeline, files: Object.keys(files).length, bytes: sizeOf(manifest) }
}

/** Throws `refused` with a database of the operator's own. */
function requireEmbedded({ databaseUrl }: BackupSettings): void {
  if (databaseUrl === undefined) return
  throw new ControlError(
    'refused',
    'DATABASE_URL names your own PostgreSQL: back it up with pgBackRest or WAL-G (admin backup --check prints the configuration)',
  )
}

/** Returns the folder from an option or BACKUP_DIR. Throws `invalid` if neither is given. */
function folderOf(given: string | undefined, { backupDir }: BackupSettings, option: string): string {
  const folder = given ?? backupDir
  if (folder !== undefined) return folder
  throw new ControlError('invalid', `name the backup folder with ${option}, or set BACKUP_DIR`)
}

/** Takes a base backup of the embedded PostgreSQL and deletes expired ones. */
export async function backUp(
  settings: BackupSettings,
  { to, keep }: { readonly to?: string | undefined; readonly keep?: number | undefined },
  say: (line: string) => void,
): Promise<object> {
  requireEmbedded(settings)
  const folder = folderOf(to, settings, '--to')
  if (keep === 0) throw new ControlError('invalid', '--keep must be 1 or more')
  const { dataDir, backupDir } = settings
  const { manifest, isArchiving, removed } = await takeBackup({ dataDir, backupDir, folder, keep, say })
  if (!isArchiving)
    say(
      `the server does not archive into ${folder}, so this backup can be restored only to the time at which it ended: ` +
        'set BACKUP_DIR to this folder and restart all processes of the service',
    )
  return {
    ...{ folder, ...summarize(manifest), archiving: isArchiving },
    ...{ removed_backups: removed.backups, removed_segments: removed.segments },
  }
}

/** Lists the base backups of a folder, oldest first. */
export function showBackups(settings: BackupSettings, from: string | undefined): object {
  const folder = folderOf(from, settings, '--to')
  return { folder, backups: listBackups(folder).map(summarize) }
}

type RestoreChoice = Pick<RestoreOptions, 'backup' | 'timeline' | 'wal' | 'to'> & {
  readonly from?: string | undefined
}

/** Restores a backup into the data directory. */
export async function restore(
  settings: BackupSettings,
  { from, ...choice }: RestoreChoice,
  say: (line: string) => void,
): Promise<object> {
  requireEmbedded(settings)
  const { dataDir, backupDir, pepper } = settings
  const folder = folderOf(from, settings, '--from')
  const restored = await restoreBackup({ ...choice, folder, dataDir, backupDir, pepper, say })
  say('payouts wait until you have run admin reconcile --apply')
  return {
    ...{ data_dir: dataDir, backup: restored.backup, restored_to: isoTime(restored.restoredTo) },
    timeline: restored.timeline,
  }
}
