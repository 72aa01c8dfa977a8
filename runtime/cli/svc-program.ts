import { Argument, Command, Option } from 'commander'
import { readTypes } from './event-types.ts'
import { nameGuides } from './guides.ts'
import { type LiveOptions, takeLive } from './live-session.ts'
import { readCount } from './option-values.ts'
import { addCards } from './svc-cards.ts'
import { addCompletion } from './svc-completion.ts'
import { resendEvent, showEvent, showEvents } from './svc-events.ts'
import { addListen } from './svc-listen-command.ts'
import { addLogin } from './svc-login.ts'
import { addLogs } from './svc-logs.ts'
import { addOpen } from './svc-open.ts'
import { addPromote } from './svc-promote.ts'
import { addRecovery } from './svc-recover.ts'
import { addRequests } from './svc-request.ts'
import { addSandboxes } from './svc-sandboxes.ts'
import { addSeed } from './svc-seed.ts'
import {
  MisuseError,
  openSession,
  requireSandbox,
  type Surroundings,
  type SvcRunner,
  type SvcSessionOptions,
} from './svc-session.ts'
import { addStatus } from './svc-status.ts'
import { TRIGGERABLE, trigger } from './svc-trigger.ts'
import { paintFor } from './terminal/colours.ts'
import { EXIT_TABLE } from './terminal/exit-codes.ts'
import { CommandError } from './terminal/failures.ts'

type GlobalOptions = SvcSessionOptions & { readonly json?: true }

/**
 * Creates the `svc` command. Results go to `print`, everything else goes to `say`. Keys and tokens are never printed.
 * @param complain receives usage errors.
 */
export function createProgram(
  surroundings: Surroundings,
  complain: (line: string) => void = surroundings.say,
): Command {
  const colours = surroundings.colours === true
  const paint = paintFor(colours)
  const program = new Command('svc')
    .description('Manage the wallet passes and cards of your account from the command line.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => complain(text.trimEnd()),
      getOutHasColors: () => colours,
    })
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => paint('bold', title) })
    .showHelpAfterError('(add --help for usage)')
    .addOption(new Option('--api-key <key>', 'secret API key').env('SVC_API_KEY'))
    .addOption(
      new Option('--profile <name>', 'profile that svc login stored under this name').env('SVC_PROFILE'),
    )
    .addOption(
      new Option(
        '--base-url <url>',
        'address of the API (default: the address in the profile, or http://127.0.0.1:4010)',
      ).env('SVC_BASE_URL'),
    )
    .option('--json', 'print results as lines of JSON to stdout, and errors as lines of JSON to stderr')
    .addHelpText('after', HELP)
  const run: SvcRunner = async (command, act) => {
    const options = command.optsWithGlobals<GlobalOptions>()
    const session = openSession(options)
    const terminal = { ...surroundings, json: options.json === true, paint }
    await act(session, terminal).catch((cause) => {
      throw cause instanceof CommandError ? cause : new CommandError(session.baseUrl, cause)
    })
  }
  addLogin(program, surroundings)
  addStatus(program, run, surroundings)
  addOpen(program, surroundings)
  addRequests(program, run, surroundings)
  addListen(program, run, surroundings)
  addTrigger(program, run)
  addSandboxes(program, run)
  addSeed(program, run)
  addCards(program, run)
  addEvents(program, run)
  addLogs(program, run, surroundings)
  addPromote(program, run)
  addCompletion(program, surroundings)
  nameGuides(program)
  return program
}

const HELP = `
Examples:
  svc login                                             # once; or set SVC_API_KEY=svc_sk_…
  svc get /v1/passes?limit=5
  svc listen --forward-to http://localhost:3000/hooks
  svc --version                                         # version of this command and of the API

Exit codes:
${EXIT_TABLE.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}`

function addTrigger(program: Command, run: SvcRunner): void {
  takeLive(program.command('trigger'))
    .description('trigger a real event in the sandbox, and print the objects created for it')
    .addArgument(new Argument('<event>', `event type: ${TRIGGERABLE.join(', ')}`))
    .option('--endpoint <id>', 'endpoint (whe_…) for webhook_endpoint.test (default: the only endpoint)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc trigger pass.updated\n  svc trigger card.transaction.authorized',
    )
    .action((type: string, words: LiveOptions & { endpoint?: string }, command: Command) =>
      run(command, (session, terminal) => {
        requireSandbox(session, 'trigger')
        return trigger(session, type, words, terminal)
      }),
    )
}

function addEvents(program: Command, run: SvcRunner): void {
  const events = program
    .command('events')
    .description('list the latest events, or show one event in full')
    .addArgument(new Argument('[event]', 'event to show (evt_…)'))
    .option('--type <type>', 'only events of this type')
    .addOption(new Option('--limit <count>', 'maximum number of events').argParser(readCount).default(25))
    .addHelpText(
      'after',
      '\nExamples:\n  svc events --type pass.updated --limit 5\n  svc events evt_… --json',
    )
    .action((id: string | undefined, words: { type?: string; limit: number }, command: Command) =>
      run(command, async (session, terminal) => {
        if (words.type !== undefined) readTypes(words.type)
        if (id === undefined) return showEvents(session, words, terminal)
        if (words.type !== undefined)
          throw new MisuseError('--type cannot be combined with an event identifier')
        return showEvent(session, id, terminal)
      }),
    )
  events
    .command('resend')
    .description('send an event again immediately, even to a disabled endpoint')
    .addArgument(new Argument('<event>', 'event to send again (evt_…)'))
    .option('--endpoint <id>', 'only to this endpoint (whe_…) (default: every endpoint that received it)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events resend evt_…\n  svc events resend evt_… --endpoint whe_…',
    )
    .action((id: string, words: { endpoint?: string }, command: Command) =>
      run(command, (session, terminal) => resendEvent(session, id, words, terminal)),
    )
  addRecovery(events, run)
}
