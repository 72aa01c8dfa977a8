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
import { addRequests } from './svc-request.ts'
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
 * The merchant's tool. Results go to `print`, all else to `say`; keys and tokens are never repeated anywhere.
 *
 * @param complain gets what was misused.
 */
export function createProgram(
  surroundings: Surroundings,
  complain: (line: string) => void = surroundings.say,
): Command {
  const colours = surroundings.colours === true
  const paint = paintFor(colours)
  const program = new Command('svc')
    .description('Wallet passes and cards of your account, from the command line.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => complain(text.trimEnd()),
      getOutHasColors: () => colours,
    })
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => paint('bold', title) })
    .showHelpAfterError('(--help tells what it takes)')
    .addOption(new Option('--api-key <key>', 'a secret key of yours').env('SVC_API_KEY'))
    .addOption(
      new Option('--profile <name>', 'as whom svc login signed in under that name').env('SVC_PROFILE'),
    )
    .addOption(
      new Option(
        '--base-url <url>',
        'where the API is (default: that of the profile, or http://127.0.0.1:4010)',
      ).env('SVC_BASE_URL'),
    )
    .option('--json', 'results as lines of JSON on stdout, and errors as lines of JSON on stderr')
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
  svc login                                             # once; or SVC_API_KEY=svc_sk_…
  svc get /v1/passes?limit=5
  svc listen --forward-to http://localhost:3000/hooks
  svc --version                                         # of this command, and of the API that it speaks

Exit codes:
${EXIT_TABLE.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}`

function addTrigger(program: Command, run: SvcRunner): void {
  takeLive(program.command('trigger'))
    .description('make an event happen for real in the sandbox, and print what was made for it')
    .addArgument(new Argument('<event>', `its type: ${TRIGGERABLE.join(', ')}`))
    .option('--endpoint <id>', 'the endpoint (whe_…) of webhook_endpoint.test (default: the only one)')
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
    .description('show the latest events, or all of one')
    .addArgument(new Argument('[event]', 'the identifier of one (evt_…)'))
    .option('--type <type>', 'only of this type')
    .addOption(new Option('--limit <count>', 'how many').argParser(readCount).default(25))
    .addHelpText(
      'after',
      '\nExamples:\n  svc events --type pass.updated --limit 5\n  svc events evt_… --json',
    )
    .action((id: string | undefined, words: { type?: string; limit: number }, command: Command) =>
      run(command, async (session, terminal) => {
        if (words.type !== undefined) readTypes(words.type)
        if (id === undefined) return showEvents(session, words, terminal)
        if (words.type !== undefined) throw new MisuseError('--type does not go with one event')
        return showEvent(session, id, terminal)
      }),
    )
  events
    .command('resend')
    .description('send an event again, at once, also to an endpoint that is disabled')
    .addArgument(new Argument('<event>', 'its identifier (evt_…)'))
    .option('--endpoint <id>', 'only to this endpoint (whe_…) (default: to each that has had it)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc events resend evt_…\n  svc events resend evt_… --endpoint whe_…',
    )
    .action((id: string, words: { endpoint?: string }, command: Command) =>
      run(command, (session, terminal) => resendEvent(session, id, words, terminal)),
    )
}
