/** Commands for backup and restore. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { render } from '../../cli/print.ts'
import { createLog } from '../../platform/log.ts'
import { readSettings, type Settings } from '../../platform/settings.ts'
import { backUp, restore, showBackups } from '../backup.ts'
import { showBackupSetup, writeBackupSetup } from '../own-backup.ts'
import { reconcile } from '../reconcile/reconcile.ts'
import { type AddVerb, type OperatorRunner, readWhole } from './admin-options.ts'
import { operate as open } from './operate.ts'
import type { CommandSurroundings } from './surroundings.ts'

/** @throws InvalidArgumentError unless the text is an instant with a time zone. */
function readInstant(text: string): number {
  const at = /(Z|[+-]\d\d:?\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw new InvalidArgumentError('Expected a time with its time zone, such as 2026-11-27T09:30:00Z.')
}

const folder = (flags: string, about: string) => new Option(flags, about).argParser((path) => resolve(path))

interface BackupFlags {
  readonly to?: string
  readonly keep?: number
  readonly list?: true
  readonly check?: true
}

interface RestoreFlags {
  readonly from?: string
  readonly to?: number
  readonly backup?: string
  readonly timeline?: number
  readonly pgWal?: string
}

interface ReconcileFlags {
  readonly apply?: true
  readonly leaveUnknown?: true
  readonly since?: number
}

/** Adds `backup` and `restore`, which work without an open database, and `reconcile`. */
export function addBackups(
  program: Command,
  verb: AddVerb,
  operate: OperatorRunner,
  surroundings: CommandSurroundings,
): void {
  const { env, print, say } = surroundings
  const run = async (command: Command, work: (settings: Settings) => object | Promise<object>) => {
    const result = await work(readSettings(env))
    print(render(result, command.opts().json === true))
  }
  const check = async (command: Command) => {
    const setup = await open(surroundings, showBackupSetup)
    print(command.opts().json === true ? `${JSON.stringify(setup)}\n` : writeBackupSetup(setup))
  }
  verb(program, 'backup', 'take a base backup of the embedded PostgreSQL while it runs')
    .addOption(folder('--to <folder>', 'backup folder (default: BACKUP_DIR)'))
    .addOption(
      new Option('--keep <count>', 'number of base backups to keep (default: all)').argParser(readWhole),
    )
    .option('--list', 'list the base backups in the folder instead')
    .option(
      '--check',
      'check how PostgreSQL archives, and print a configuration of pgBackRest and WAL-G instead',
    )
    .action((options: BackupFlags, command: Command) => {
      if (options.check) return check(command)
      return run(command, (settings) =>
        options.list ? showBackups(settings, options.to) : backUp(settings, options, say),
      )
    })
  verb(program, 'restore', 'restore a backup of the embedded PostgreSQL into a new DATA_DIR')
    .addOption(folder('--from <folder>', 'backup folder (default: BACKUP_DIR)'))
    .addOption(
      new Option('--to <time>', 'time to restore to (default: the end of the archive)').argParser(
        readInstant,
      ),
    )
    .option('--backup <id>', 'base backup to start from (default: the newest one before the time)')
    .addOption(
      new Option('--timeline <number>', 'timeline to follow (default: the newest)').argParser(readWhole),
    )
    .addOption(
      folder('--pg-wal <folder>', 'pg_wal of the lost server, for changes that were not archived yet'),
    )
    .action(({ pgWal: wal, ...options }: RestoreFlags, command: Command) =>
      run(command, (settings) => restore(settings, { ...options, wal }, say)),
    )
  verb(program, 'reconcile', 'compare a restored database with the chain, the bank and the wallets')
    .option('--apply', 'also make the changes, and let payouts continue')
    .option('--leave-unknown', 'let payouts continue although some payments remain unknown')
    .addOption(
      new Option(
        '--since <time>',
        'time from which on changes may be lost (default: the time that admin restore has recorded)',
      ).argParser(readInstant),
    )
    .action(({ apply, leaveUnknown, since }: ReconcileFlags, command: Command) =>
      operate(command, (operator, _production, _room, database) => {
        const settings = readSettings(env)
        const options = { apply: apply === true, leaveUnknown: leaveUnknown === true, since }
        return reconcile(operator, database, settings, options, createLog({ logLevel: 'warn' }))
      }),
    )
}
