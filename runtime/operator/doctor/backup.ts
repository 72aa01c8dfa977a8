/** Checks whether the database can be restored, and how much a restore would lose (recovery point objective, RPO). */
import type pg from 'pg'
import { listBackups } from '../../database/backup/backup-folder.ts'
import { CURRENT_TIMELINE, type CurrentTimeline } from '../../database/backup/restored.ts'
import { ARCHIVE_EVERY_S } from '../../database/embedded/archive.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A base backup should be at most this old: recovery replays everything that was archived since. */
const OLDEST_BACKUP_MS = 8 * 86_400_000

/** The migration that added timelines. */
const MIGRATION = '0126_restores'

interface ArchiverRow {
  readonly mode: string
  readonly command: string
  readonly library: string
  readonly archive_timeout: number
  readonly archived: Date | null
  readonly failed: Date | null
}

const ARCHIVER = `
  SELECT current_setting('archive_mode') AS mode, current_setting('archive_command') AS command,
         current_setting('archive_library') AS library, s.last_archived_time AS archived, s.last_failed_time AS failed,
         (SELECT setting::integer FROM pg_settings WHERE name = 'archive_timeout') AS archive_timeout
    FROM pg_stat_archiver s`

type BackupSettings = Pick<Settings, 'databaseUrl' | 'backupDir' | 'production'>

/** Reports archiving, the newest backup, and payouts that wait because the database was restored. */
export async function checkBackups(
  client: pg.Client,
  settings: BackupSettings,
  { applied }: { readonly applied: ReadonlyMap<string, unknown> },
  now: number,
): Promise<readonly Finding[]> {
  const { rows } = await client.query<ArchiverRow>(ARCHIVER)
  return [
    checkArchive(rows[0]!, settings),
    ...(settings.databaseUrl === undefined && settings.backupDir !== undefined
      ? [checkAge(settings.backupDir, now)]
      : []),
    ...(applied.has(MIGRATION) ? await checkRestored(client) : []),
  ]
}

const ARCHIVE = 'archive'

function checkArchive(row: ArchiverRow, { databaseUrl, production }: BackupSettings): Finding {
  const isOwn = databaseUrl !== undefined
  if (row.mode === 'off') {
    const todo = isOwn ? 'see admin backup --check' : 'set BACKUP_DIR, and restart all processes'
    const words = `the WAL is not archived, so a lost disk loses everything since the last backup: ${todo}`
    return production ? warn(ARCHIVE, words) : ok(ARCHIVE, words)
  }
  if (row.command === '' && row.library === '')
    return fail(
      ARCHIVE,
      'archive_mode is on, but neither archive_command nor archive_library is set: set one',
    )
  const { archived, failed } = row
  if (failed !== null && (archived === null || failed > archived)) {
    const since =
      archived === null ? 'nothing was archived yet' : `the last success was at ${archived.toISOString()}`
    return fail(
      ARCHIVE,
      `archiving fails (${failed.toISOString()}); ${since}, and a lost disk loses everything since: read the log of PostgreSQL`,
    )
  }
  const last = archived === null ? 'nothing to archive yet' : `last at ${archived.toISOString()}`
  if (row.archive_timeout === 0)
    return warn(
      ARCHIVE,
      `${last}; archive_timeout is 0, so a quiet database archives nothing: set it, for example to ${ARCHIVE_EVERY_S}s`,
    )
  return ok(ARCHIVE, `${last}; a lost disk loses at most the last ${row.archive_timeout} s (RPO)`)
}

const BACKUP = 'base backup'

function checkAge(folder: string, now: number): Finding {
  try {
    const newest = listBackups(folder).at(-1)
    if (!newest) return warn(BACKUP, `${folder} contains none, so nothing can be restored: run admin backup`)
    const age = now - Date.parse(newest.ended)
    const words = `the newest in ${folder} ended at ${newest.ended}, ${Math.floor(age / 3_600_000)} hours ago`
    return age > OLDEST_BACKUP_MS ? warn(BACKUP, `${words}: run admin backup every day`) : ok(BACKUP, words)
  } catch (error) {
    return fail(BACKUP, error)
  }
}

async function checkRestored(client: pg.Client): Promise<readonly Finding[]> {
  const { rows } = await client.query<CurrentTimeline>(CURRENT_TIMELINE)
  const { timeline, reconciled_at } = rows[0]!
  if (reconciled_at !== null) return []
  return [
    warn(
      'restore',
      `the database was restored, or a standby was promoted (timeline ${timeline}): payouts wait until you have run admin reconcile --apply`,
    ),
  ]
}
