/** Commands that move tenants between installations. */

import type { Command } from 'commander'
import { Option } from 'commander'
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

/** Adds `move`, `export` and `import` to the noun `tenant`. */
export function addMoves(
  noun: AddNoun,
  verb: AddVerb,
  run: OperatorRunner,
  { env, say }: CommandSurroundings,
): void {
  verb(noun('tenant', 'merchants'), 'move', 'move a tenant to a different installation while it is served')
    .addArgument(tenantArgument())
    .requiredOption('--to <target>', 'database URL of the target, or a file with its settings')
    .option('--hint <url>', 'where callers find the account afterwards; the source names it in its answers')
    .addOption(
      new Option('--max-pause <seconds>', 'maximum time for which writes are refused')
        .argParser(readWhole)
        .default(30),
    )
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
}
