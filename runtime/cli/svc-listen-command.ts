/** The options of `svc listen`. */
import { type Command, Option } from 'commander'
import { readTypes } from './event-types.ts'
import { readSeconds } from './option-values.ts'
import { listen } from './svc-listen.ts'
import { MisuseError, readHttpUrl, requireSandbox, type Surroundings, type SvcRunner } from './svc-session.ts'

interface ListenWords {
  readonly forwardTo: string
  readonly events?: string
  readonly since?: string
  readonly secret?: string
  readonly giveUpAfter: number
}

export function addListen(program: Command, run: SvcRunner, { interruption }: Surroundings): void {
  program
    .command('listen')
    .description(
      'forward sandbox events to a local address, signed like webhook deliveries, until interrupted',
    )
    .requiredOption(
      '--forward-to <url>',
      'address that receives each event, for example http://localhost:3000/hooks',
    )
    .option('--events <types>', 'comma-separated event types to forward (default: all)')
    .option('--since <event>', 'start after this event (evt_…) instead of now')
    .addOption(
      new Option(
        '--secret <secret>',
        'signing secret (default: derived from the API key or the profile)',
      ).env('SVC_WEBHOOK_SECRET'),
    )
    .addOption(
      new Option('--give-up-after <seconds>', 'fail after this many seconds without a connection')
        .argParser(readSeconds)
        .default(60),
    )
    .addHelpText(
      'after',
      `
Examples:
  svc listen --forward-to http://localhost:3000/hooks
  svc listen --forward-to http://localhost:3000/hooks --events pass.created,pass.updated`,
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

/** Validates the secret here instead of with commander, whose error message would repeat it. */
function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || /^whsec_[\w-]+$/.test(text)) return text
  throw new MisuseError('--secret is not a signing secret: expected whsec_…')
}
