/** Commands that move tenants between installations. */
import { resolve } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { ControlError } from '../../tenants/admin/change.ts'
import { forgetTenant } from '../moves/arrival.ts'
import { exportTenant } from '../moves/export.ts'
import { importTenant } from '../moves/import.ts'
import { readTarget, withTarget } from '../moves/installations.ts'
import { abortMove, moveTenant } from '../moves/move.ts'
import {
  type AddNoun,
  type AddVerb,
  type OperatorRunner,
  readWhole,
  tenantArgument,
} from './admin-options.ts'
import type { CommandSurroundings } from './surroundings.ts'

interface MoveFlags {
  readonly to: string
  readonly hint?: string
  readonly maxPause: number
  readonly back?: true
  readonly abort?: true
}

interface ExportFlags {
  readonly to: string
  readonly sealed?: true
  readonly close?: true
  readonly maxPause: number
}

const pauseOption = () =>
  new Option('--max-pause <seconds>', 'maximum time for which writes are refused')
    .argParser(readWhole)
    .default(30)

/** Adds `move`, `export` and `import` to the noun `tenant`. */
export function addMoves(
  noun: AddNoun,
  verb: AddVerb,
  run: OperatorRunner,
  { env, say }: CommandSurroundings,
): void {
  const tenant = noun('tenant', 'merchants')
  verb(tenant, 'move', 'move a tenant to a different installation while it is served')
    .addArgument(tenantArgument())
    .requiredOption('--to <target>', 'database URL of the target, or a file with its settings')
    .option('--hint <url>', 'where callers find the account afterwards; the source names it in its answers')
    .addOption(pauseOption())
    .option('--back', 'move the tenant from the target back to this installation')
    .option('--abort', 'give up a move that has not ended: this installation serves the tenant again')
    .action((tenantId: string, flags: MoveFlags, command: Command) =>
      run(command, (operator, _production, _room, database) =>
        withTarget<object>(readTarget(flags.to, env), say, (target) => {
          const here = { operator, database }
          if (flags.abort) return abortMove(here, target, tenantId)
          const [source, destination] = flags.back ? [target, here] : [here, target]
          const options = { hint: flags.hint, maxPauseMs: flags.maxPause * 1000, say }
          return moveTenant(source, destination, tenantId, options)
        }),
      ),
    )
  verb(tenant, 'forget', 'delete the rows of a tenant that has moved away')
    .addArgument(tenantArgument())
    .action((tenantId: string, _: unknown, command: Command) =>
      run(command, (operator) => forgetTenant(operator, tenantId)),
    )
  verb(tenant, 'export', 'write everything of a tenant into a folder, as JSON lines')
    .addArgument(tenantArgument())
    .requiredOption('--to <folder>', 'folder, which must not exist')
    .option(
      '--sealed',
      'include secrets, sealed, so that the tenant can be imported (default: they are left out)',
    )
    .option('--close', 'stop serving the tenant here for good, so that a different installation can')
    .addOption(pauseOption())
    .action((tenantId: string, flags: ExportFlags, command: Command) =>
      run(command, (operator, _production, _room, database) => {
        if (flags.close && !flags.sealed)
          throw new ControlError(
            'invalid',
            '--close needs --sealed: without secrets, no installation can serve the tenant',
          )
        return exportTenant({ operator, database }, tenantId, {
          folder: resolve(flags.to),
          sealed: flags.sealed === true,
          close: flags.close === true,
          maxPauseMs: flags.maxPause * 1000,
        })
      }),
    )
  verb(tenant, 'import', 'read an exported tenant into this installation')
    .addArgument(new Argument('<folder>', 'folder of the export'))
    .action((folder: string, _: unknown, command: Command) =>
      run(command, (operator, _production, _room, database) =>
        importTenant({ operator, database }, resolve(folder)),
      ),
    )
}
