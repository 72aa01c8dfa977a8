/** The commands of `dateline-admin`, `svc` and `dateline`, from the programs themselves. */
import type { Command } from 'commander'
import { listCommands } from '../../generators/cli.ts'
import { createProgram as createSvc } from '../../runtime/cli/svc-program.ts'
import { createProgram as createAdmin } from '../../runtime/operator/command/admin-program.ts'

/** A command with the words that lead to it, such as `['tenant', 'create']`. The program itself has none. */
export interface CommandEntry {
  readonly path: readonly string[]
  readonly command: Command
}

/** Returns the command and all commands below it, in their order. Hidden commands and `help` are left out. */
export function listEntries(command: Command, path: readonly string[] = []): readonly CommandEntry[] {
  const visible = command.createHelp().visibleCommands(command)
  return [
    { path, command },
    ...visible
      .filter((each) => each.name() !== 'help')
      .flatMap((each) => listEntries(each, [...path, each.name()])),
  ]
}

/** Each program, by the name under which people start it. */
export function openPrograms(): Readonly<Record<string, Command>> {
  const silent = { env: {}, print: () => {}, say: () => {}, interruption: () => AbortSignal.abort() }
  const [command] = listCommands()
  return {
    'dateline-admin': createAdmin(silent),
    svc: createSvc(silent),
    dateline: command!.parent!,
  }
}
