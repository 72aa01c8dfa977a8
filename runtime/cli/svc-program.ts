import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { events as eventTables } from '../../generated/events.ts'
import { current } from '../../generated/versions.ts'
import { addCards } from './svc-cards.ts'
import { showEvent, showEvents } from './svc-events.ts'
import { listen } from './svc-listen.ts'
import {
  MisuseError,
  openSession,
  readHttpUrl,
  requireSandbox,
  type Session,
  type SessionOptions,
  type Terminal,
} from './svc-session.ts'
import { TRIGGERABLE, trigger } from './svc-trigger.ts'

/** Where a program's words come from and go to. */
export interface Surroundings extends Pick<Terminal, 'print' | 'say'> {
  /** Aborts when the person wants it to end. Asked for only by what runs until then. */
  interruption(): AbortSignal
}

type GlobalOptions = SessionOptions & { readonly json?: true }
type Run = (command: Command, act: (session: Session, terminal: Terminal) => Promise<void>) => Promise<void>

/** The merchant's tool. Results go to `print`, all else to `say`; the key is never repeated anywhere. */
export function createProgram(surroundings: Surroundings): Command {
  const program = new Command('svc')
    .description('Watches and causes events of your account, from the command line.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.print(text.trimEnd()),
      writeErr: (text) => surroundings.say(text.trimEnd()),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help tells what it takes)')
    .addOption(new Option('--api-key <key>', 'a secret key of yours').env('SVC_API_KEY'))
    .addOption(
      new Option('--base-url <url>', 'where the service is')
        .env('SVC_BASE_URL')
        .default('http://127.0.0.1:4010'),
    )
    .option('--json', 'results as lines of JSON on stdout, and nothing else there')
  const run: Run = async (command, act) => {
    const options = command.optsWithGlobals<GlobalOptions>()
    await act(openSession(options), { ...surroundings, json: options.json === true })
  }
  addListen(program, run, surroundings)
  addTrigger(program, run)
  addCards(program, run)
  addEvents(program, run)
  return program
}

interface ListenWords {
  readonly forwardTo: string
  readonly events?: string
  readonly since?: string
  readonly secret?: string
  readonly giveUpAfter: number
}

function addListen(program: Command, run: Run, { interruption }: Surroundings): void {
  program
    .command('listen')
    .description(
      'forward sandbox events to an address of your own, signed like deliveries, until interrupted',
    )
    .requiredOption(
      '--forward-to <url>',
      'where each event is posted, http://localhost:3000/hooks for example',
    )
    .option('--events <types>', 'only these, with commas between (default: all)')
    .option('--since <event>', 'begin after this event (evt_…) instead of now')
    .addOption(
      new Option('--secret <secret>', 'sign with it (default: one that follows from the key)').env(
        'SVC_WEBHOOK_SECRET',
      ),
    )
    .addOption(
      new Option('--give-up-after <seconds>', 'fail when there is no connection for so long')
        .argParser(readSeconds)
        .default(60),
    )
    .action((words: ListenWords, command: Command) =>
      run(command, (session, terminal) => {
        requireSandbox(session, 'listen')
        const options = {
          to: readHttpUrl('--forward-to', words.forwardTo),
          types: words.events === undefined ? undefined : readTypes(words.events),
          since: words.since,
          secret: readSecret(words.secret),
          giveUpMs: words.giveUpAfter * 1000,
          signal: interruption(),
        }
        return listen(session, options, terminal)
      }),
    )
}

function addTrigger(program: Command, run: Run): void {
  program
    .command('trigger')
    .description('make an event happen for real in the sandbox, and print what was made for it')
    .addArgument(new Argument('<event>', `its type: ${TRIGGERABLE.join(', ')}`))
    .option('--endpoint <id>', 'the endpoint (whe_…) of webhook_endpoint.test (default: the only one)')
    .action((type: string, words: { endpoint?: string }, command: Command) =>
      run(command, (session, terminal) => {
        requireSandbox(session, 'trigger')
        return trigger(session, type, words, terminal)
      }),
    )
}

function addEvents(program: Command, run: Run): void {
  program
    .command('events')
    .description('show the latest events, or all of one')
    .addArgument(new Argument('[event]', 'the identifier of one (evt_…)'))
    .option('--type <type>', 'only of this type')
    .addOption(new Option('--limit <count>', 'how many').argParser(readCount).default(25))
    .action((id: string | undefined, words: { type?: string; limit: number }, command: Command) =>
      run(command, async (session, terminal) => {
        if (words.type !== undefined) readTypes(words.type)
        if (id === undefined) return showEvents(session, words, terminal)
        if (words.type !== undefined) throw new MisuseError('--type does not go with one event')
        return showEvent(session, id, terminal)
      }),
    )
}

/** A type that is misspelt would never come. */
function readTypes(text: string): ReadonlySet<string> | undefined {
  const types = text.split(',').map((type) => type.trim())
  const known = eventTables[current] ?? {}
  const unknown = types.filter((type) => type !== '*' && !Object.hasOwn(known, type))
  if (unknown.length > 0) {
    throw new MisuseError(
      `there is no event type ${unknown.join(', ')}; these there are:\n  ${Object.keys(known).join('\n  ')}`,
    )
  }
  return types.includes('*') ? undefined : new Set(types)
}

/** Not as commander would read it: that repeats what it refuses. */
function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || /^whsec_[\w-]+$/.test(text)) return text
  throw new MisuseError('--secret takes what an endpoint’s secret looks like: whsec_…')
}

function readSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a number of seconds.')
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is not a whole number above 0.')
}
