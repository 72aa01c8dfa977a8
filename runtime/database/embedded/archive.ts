/** Continuous archiving of the write-ahead log (WAL) of the embedded server (PostgreSQL documentation, section 25.3). */
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { canEnter, type OsAccount } from './account.ts'
import type { ServerParameters } from './start.ts'

/** Maximum age of a change that is not archived yet, in seconds. PostgreSQL then archives a segment that is not full. */
export const ARCHIVE_EVERY_S = 60

/** Folder of the archived segments in a backup folder. Each is one file, such as `00000001000000000000000A.gz`. */
export const walFolderOf = (backupDir: string): string => join(backupDir, 'wal')

/**
 * Quotes a path for the shell in a PostgreSQL setting, in which `%` begins a placeholder. Throws if the path has a single
 * quote.
 */
function quotePath(path: string): string {
  if (/['\n]/.test(path)) throw new Error(`${path}: the path must not contain a quote or a line break`)
  return `'${path.replaceAll('%', '%%')}'`
}

/**
 * Returns the command that archives one segment. It is safe to kill at any time: it compresses into a temporary file, writes
 * that to the disk, and then renames it. It never replaces a segment: it succeeds if the archive already has the same
 * content, and fails otherwise.
 */
function archiveCommand(folder: string): string {
  return [
    `PATH=/usr/bin:/bin; cd ${quotePath(folder)} || exit 1`,
    // PostgreSQL gives the path relative to its data directory, which the shell has left.
    `from="$OLDPWD/%p"; to="%f.gz"; new="$to.$$.unfinished"`,
    'if [ -e "$to" ]; then gzip -dc "$to" | cmp -s - "$from"; exit; fi',
    'gzip -1 -c "$from" > "$new" && sync "$new" && mv "$new" "$to" && sync .',
  ].join('; ')
}

/**
 * Returns the command that gets a segment during recovery.
 * @param folders archives, and folders with plain segments, in the order in which they are tried.
 */
export function restoreCommand(folders: readonly string[]): string {
  const tries = folders.map((folder) => {
    const place = `${quotePath(folder)}/"%f"`
    return `if [ -e ${place}.gz ]; then gzip -dc ${place}.gz > "%p"; exit; elif [ -e ${place} ]; then cp ${place} "%p"; exit; fi`
  })
  return ['PATH=/usr/bin:/bin', ...tries, 'exit 1'].join('; ')
}

/**
 * Creates the archive and returns the settings of a server that archives into it. Throws if the server's user cannot use the
 * folder.
 * @param account the user that runs the server; undefined: the user of this process.
 */
export function archiveInto(backupDir: string, account: OsAccount | undefined): ServerParameters {
  if (process.platform === 'win32')
    throw new Error('BACKUP_DIR: archiving is not available on Windows: unset it, or set DATABASE_URL')
  const folder = walFolderOf(backupDir)
  mkdirSync(folder, { recursive: true, mode: account ? 0o711 : 0o700 })
  if (account) {
    chownSync(folder, account.uid, account.gid)
    chmodSync(folder, 0o700)
  }
  if (!canEnter(account, folder))
    throw new Error(
      `BACKUP_DIR: the PostgreSQL user (uid ${account?.uid}) cannot enter ${folder}: ` +
        'open the directories above it to others (chmod o+x), or use a different folder',
    )
  return {
    archive_mode: 'on',
    archive_command: archiveCommand(folder),
    archive_timeout: `${ARCHIVE_EVERY_S}s`,
  }
}
