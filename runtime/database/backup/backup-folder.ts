/**
 * The backup folder of an embedded PostgreSQL:
 *
 *     base/<id>/manifest.json   a base backup: when it was taken, and size and SHA-256 of each file
 *     base/<id>/data/           PGDATA, with the WAL from the start to the end of the backup
 *     base/<id>/files/          other files of the data directory, such as the pepper
 *     wal/                      archived WAL segments, each compressed
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { walFolderOf } from '../embedded/archive.ts'

/** Size in bytes and SHA-256 in hexadecimal. */
export interface FileRecord {
  readonly size: number
  readonly sha256: string
}

/** Content of `manifest.json`. Times are ISO 8601; WAL positions are as PostgreSQL writes them, such as `0/3000028`. */
export interface BackupManifest {
  readonly format: 1
  /** Start time in UTC, such as `20261127T021500123Z`. */
  readonly id: string
  readonly started: string
  /** The backup can be restored to this time and later ones. */
  readonly ended: string
  /** Major version of PostgreSQL. */
  readonly postgres: string
  /** Identifier of the cluster, the same for all its backups and WAL. */
  readonly system: string
  readonly timeline: number
  readonly start_lsn: string
  readonly end_lsn: string
  /** First WAL segment that a recovery from this backup needs. */
  readonly first_segment: string
  /** Folders of PGDATA, also empty ones, because PostgreSQL does not create them all. */
  readonly folders: readonly string[]
  /** By path in the backup's folder. */
  readonly files: Readonly<Record<string, FileRecord>>
}

const FORMAT = 1

export const MANIFEST = 'manifest.json'

/** Suffix of a base backup that is being written. A killed backup leaves it behind. */
export const UNFINISHED_BACKUP = '.unfinished'

export const baseFolderOf = (folder: string): string => join(folder, 'base')

/** Returns the size of a backup in bytes. */
export const sizeOf = ({ files }: BackupManifest): number =>
  Object.values(files).reduce((sum, { size }) => sum + size, 0)

/** Returns the complete base backups of a folder, oldest first. Throws if a manifest cannot be read. */
export function listBackups(folder: string): readonly BackupManifest[] {
  const base = baseFolderOf(folder)
  if (!existsSync(base)) return []
  return readdirSync(base)
    .filter((name) => !name.endsWith(UNFINISHED_BACKUP))
    .sort()
    .map((name) => readManifest(join(base, name, MANIFEST)))
}

function readManifest(path: string): BackupManifest {
  try {
    const manifest: BackupManifest = JSON.parse(readFileSync(path, 'utf8'))
    if (manifest.format === FORMAT) return manifest
    throw new Error(
      `its format is ${manifest.format}, but this version of the service reads format ${FORMAT}`,
    )
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${path} cannot be read: ${reason}`, { cause })
  }
}

/** Name of a WAL segment: timeline, log and segment, eight hexadecimal digits each. */
const SEGMENT = /^[0-9A-F]{24}/

/** Position of a segment in the WAL, regardless of its timeline. Positions sort as texts. */
const positionOf = (segment: string): string => segment.slice(8, 24)

/**
 * Returns the names of segments between two segments, both included.
 * @param names file names; names that are not of segments are left out.
 */
export function segmentsBetween(names: readonly string[], first: string, last: string): readonly string[] {
  const isSegment = (name: string) => name.length === 24 && SEGMENT.test(name)
  return names.filter((name) => isSegment(name) && name >= first && name <= last).sort()
}

/** Result of `chooseExpired`. */
export interface ExpiredFiles {
  readonly backups: readonly BackupManifest[]
  /** File names in the archive. */
  readonly segments: readonly string[]
}

/**
 * Chooses what to delete: all but the newest backups, and the segments that no kept backup needs. Files that list timelines
 * (`.history`) are small and are kept.
 * @param backups oldest first. @param archived file names in the archive. @param keep number of backups to keep, 1 or more.
 */
export function chooseExpired(
  backups: readonly BackupManifest[],
  archived: readonly string[],
  keep: number,
): ExpiredFiles {
  const kept = backups.slice(-keep)
  const needed = kept.map(({ first_segment }) => positionOf(first_segment)).sort()[0]
  const isOld = (name: string) => SEGMENT.test(name) && needed !== undefined && positionOf(name) < needed
  return { backups: backups.slice(0, -keep), segments: archived.filter(isOld) }
}

/**
 * Chooses the backup to restore. Throws if no backup fits.
 * @param backups oldest first.
 * @param id a given backup; default: the newest that ended before the time.
 * @param to time to restore to, in milliseconds since the epoch; default: the end of the archive.
 */
export function chooseBackup(
  backups: readonly BackupManifest[],
  { id, to }: { readonly id?: string | undefined; readonly to?: number | undefined },
): BackupManifest {
  const isUsable = ({ ended }: BackupManifest) => to === undefined || Date.parse(ended) <= to
  const chosen = backups.findLast((each) => (id === undefined ? isUsable(each) : each.id === id))
  const known = backups.map((each) => `${each.id} (ended ${each.ended})`).join(', ')
  if (!chosen) {
    const wanted =
      id === undefined ? `that ended before ${new Date(to ?? 0).toISOString()}` : `with the ID ${id}`
    throw new Error(
      backups.length === 0
        ? 'the folder contains no complete backup: take one with admin backup'
        : `the folder contains no backup ${wanted}; its backups: ${known}`,
    )
  }
  if (!isUsable(chosen))
    throw new Error(`backup ${chosen.id} ended at ${chosen.ended}, and can be restored only to later times`)
  return chosen
}

/** Returns the file names in the archive; none if there is no archive. */
export function listArchive(folder: string): readonly string[] {
  const wal = walFolderOf(folder)
  return existsSync(wal) ? readdirSync(wal) : []
}
