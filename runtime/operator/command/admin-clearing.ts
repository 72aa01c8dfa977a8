/** Commands for clearing files, and for messages of the card network that could not take effect. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { FORMAT_NAMES, type FormatName } from '../../cards/clearing/formats.ts'
import type { ImportParts } from '../../cards/clearing/import.ts'
import type { Reconciliation } from '../../cards/clearing/reconcile.ts'
import { isDate } from '../../cards/clearing/records.ts'
import { render } from '../../cli/print.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import {
  importClearingFile,
  listExceptions,
  noteException,
  reconcileDay,
  requireReconciled,
  retryOpenException,
  showClearingFiles,
  withClearing,
} from '../clearing.ts'
import type { AddVerb, OperatorRunner } from './admin-options.ts'
import type { CommandSurroundings } from './surroundings.ts'

interface ExceptionOptions {
  readonly open?: true
  readonly resolve?: string
  readonly note?: string
  readonly retry?: string
}

interface ReconcileOptions {
  readonly env: Environment
  readonly date: string
  readonly report: string
}

/** Adds the verbs for clearing files to `admin network`. */
export function addClearing(
  network: Command,
  verb: AddVerb,
  run: OperatorRunner,
  { env, print, say }: CommandSurroundings,
): void {
  const runApplying = async (command: Command, action: (parts: ImportParts) => Promise<object>) => {
    const result = await withClearing(env, say, action)
    print(render(result, command.opts().json === true))
  }
  verb(network, 'import', 'import a clearing file, or continue an import that was interrupted')
    .argument('<file>', 'path of the file')
    .addOption(
      new Option('--format <format>', 'format (default: by the end of the name)').choices(FORMAT_NAMES),
    )
    .action((path: string, { format }: { format?: FormatName }, command: Command) =>
      runApplying(command, (parts) => importClearingFile(parts, path, format, say)),
    )
  verb(network, 'status', 'show how far clearing files are imported')
    .argument('[file-id]', 'ID of a file (default: all)')
    .action((id: string | undefined, _: unknown, command: Command) =>
      run(command, (operator) => showClearingFiles(operator, id)),
    )
  verb(network, 'exceptions', 'list, resolve or retry messages that could not take effect')
    .option('--open', 'list only those that are not resolved')
    .option('--resolve <id>', 'mark an exception as resolved; requires --note')
    .option('--note <text>', 'what was done about it')
    .addOption(new Option('--retry <id>', 'apply the message of an exception again').conflicts(['resolve']))
    .action(({ open, resolve, note, retry }: ExceptionOptions, command: Command) => {
      if ((resolve === undefined) !== (note === undefined))
        throw new ControlError('invalid', '--resolve and --note must be given together')
      if (retry !== undefined) return runApplying(command, (parts) => retryOpenException(parts, retry))
      return run(command, (operator) =>
        resolve !== undefined && note !== undefined
          ? noteException(operator, resolve, note)
          : listExceptions(operator, open === true),
      )
    })
  verb(
    network,
    'reconcile',
    'compare a day with the network’s settlement report; the exit code is 1 if they differ',
  )
    .addOption(new Option('--env <environment>', 'the environment').choices(ENVIRONMENTS).default('live'))
    .addOption(
      new Option('--date <day>', 'business day, such as 2026-11-25').argParser(readDay).makeOptionMandatory(),
    )
    .requiredOption('--report <file>', 'the network’s report: .json or .csv')
    .action(async ({ env, date, report }: ReconcileOptions, command: Command) => {
      let found: Reconciliation | undefined
      await run(command, async (operator) => {
        found = await reconcileDay(operator, env, date, report)
        return found
      })
      if (found) requireReconciled(found)
    })
}

function readDay(text: string): string {
  if (isDate(text)) return text
  throw new InvalidArgumentError('Expected a date such as 2026-11-25.')
}
