/** Backups of the operator's own PostgreSQL: the configuration of pgBackRest and WAL-G, and what the server archives. */
import type { Statement } from '../database/database.ts'
import { ARCHIVE_EVERY_S } from '../database/embedded/archive.ts'
import { isoTime, type Operator } from '../tenants/admin/change.ts'

const STATE: Statement = {
  text: `SELECT current_setting('archive_mode') AS archive_mode, current_setting('archive_command') AS archive_command,
                current_setting('archive_library') AS archive_library, current_setting('archive_timeout') AS archive_timeout,
                current_setting('wal_level') AS wal_level, current_setting('data_directory', true) AS data_directory,
                current_setting('port') AS port, s.archived_count, s.last_archived_time, s.failed_count, s.last_failed_time,
                s.last_failed_wal
           FROM pg_stat_archiver s`,
}

interface ArchiveState {
  readonly archive_mode: string
  readonly archive_command: string
  readonly archive_library: string
  readonly archive_timeout: string
  readonly wal_level: string
  /** Null without the role pg_read_all_settings. */
  readonly data_directory: string | null
  readonly port: string
  readonly archived_count: number
  readonly last_archived_time: number | null
  readonly failed_count: number
  readonly last_failed_time: number | null
  readonly last_failed_wal: string | null
}

/** What the server archives, what is wrong with that, and the configuration that works. */
export interface ShownBackupSetup extends Omit<ArchiveState, 'last_archived_time' | 'last_failed_time'> {
  readonly last_archived_time: string | null
  readonly last_failed_time: string | null
  readonly problems: readonly string[]
  /** Lines of configuration by file. */
  readonly configuration: Readonly<Record<string, readonly string[]>>
}

const time = (at: number | null) => (at === null ? null : isoTime(at))

/** Checks how the server archives, and returns a configuration for it. */
export async function showBackupSetup({ control }: Operator): Promise<ShownBackupSetup> {
  const state = (await control.query<ArchiveState>(STATE)).rows[0]!
  const { last_archived_time: archived, last_failed_time: failed } = state
  return {
    ...state,
    last_archived_time: time(archived),
    last_failed_time: time(failed),
    problems: problemsOf(state),
    configuration: configurationFor(state),
  }
}

function problemsOf(state: ArchiveState): readonly string[] {
  const { archive_mode, archive_command, archive_library, archive_timeout, wal_level } = state
  const { last_archived_time: archived, last_failed_time: failed } = state
  const problems = [
    wal_level === 'minimal' && 'wal_level is minimal: set it to replica',
    archive_mode === 'off' && 'archive_mode is off: set it to on, and restart PostgreSQL',
    archive_mode !== 'off' &&
      archive_command === '' &&
      archive_library === '' &&
      'archive_command is not set',
    archive_timeout === '0' && 'archive_timeout is 0: a quiet database archives nothing',
    failed !== null &&
      (archived === null || failed > archived) &&
      `the last attempt failed: ${state.last_failed_wal} at ${isoTime(failed)}; read the log of PostgreSQL`,
  ]
  return problems.filter((each) => typeof each === 'string')
}

function configurationFor({ data_directory, port }: ArchiveState): ShownBackupSetup['configuration'] {
  const data = data_directory ?? '/var/lib/postgresql/18/main'
  const settings = ['wal_level = replica', 'archive_mode = on', `archive_timeout = ${ARCHIVE_EVERY_S}s`]
  return {
    'postgresql.conf with pgBackRest': [
      ...settings,
      `archive_command = 'pgbackrest --stanza=dateline archive-push %p'`,
    ],
    '/etc/pgbackrest/pgbackrest.conf': [
      '[global]',
      'repo1-path=/var/lib/pgbackrest',
      'repo1-retention-full=2',
      'repo1-cipher-type=aes-256-cbc',
      'repo1-cipher-pass=<output of openssl rand -base64 48>',
      'process-max=4',
      'start-fast=y',
      '[dateline]',
      `pg1-path=${data}`,
      `pg1-port=${port}`,
    ],
    'commands of pgBackRest': [
      'pgbackrest --stanza=dateline stanza-create',
      'pgbackrest --stanza=dateline check',
      'pgbackrest --stanza=dateline --type=full backup',
      'pgbackrest --stanza=dateline --type=time --target="2026-11-27 09:30:00+00" --target-action=promote restore',
    ],
    'postgresql.conf with WAL-G': [...settings, `archive_command = 'wal-g wal-push %p'`],
    'environment of WAL-G': [
      'WALG_S3_PREFIX=s3://<bucket>/dateline',
      'WALG_COMPRESSION_METHOD=zstd',
      'WALG_LIBSODIUM_KEY=<output of openssl rand -hex 32>',
      'WALG_LIBSODIUM_KEY_TRANSFORM=hex',
      `PGDATA=${data}`,
      `PGPORT=${port}`,
    ],
    'commands of WAL-G': [`wal-g backup-push ${data}`, 'wal-g delete retain FULL 2 --confirm'],
  }
}

/** Formats the setup for people. */
export function writeBackupSetup({ problems, configuration, ...state }: ShownBackupSetup): string {
  const lines = [
    ...Object.entries(state).map(([name, value]) => `${name.padEnd(20)}${value ?? '–'}`),
    '',
    ...(problems.length === 0 ? ['archiving works'] : problems.map((each) => `problem: ${each}`)),
    ...Object.entries(configuration).flatMap(([file, content]) => ['', `# ${file}`, ...content]),
  ]
  return `${lines.join('\n')}\n`
}
