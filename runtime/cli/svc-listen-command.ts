/** The words of `svc listen`. */
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
      'forward sandbox events to an address of your own, signed like deliveries, until interrupted',
    )
    .requiredOption(
      '--forward-to <url>',
      'where each event is posted, http://localhost:3000/hooks for example',
    )
    .option('--events <types>', 'only these, with commas between (default: all)')
    .option('--since <event>', 'begin after this event (evt_…) instead of now')
    .addOption(
      new Option(
        '--secret <secret>',
        'sign with it (default: one that follows from the key or the profile)',
      ).env('SVC_WEBHOOK_SECRET'),
    )
    .addOption(
      new Option('--give-up-after <seconds>', 'fail when there is no connection for so long')
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

/** Not as commander would read it: that repeats what it refuses. */
function readSecret(text: string | undefined): string | undefined {
  if (text === undefined || /^whsec_[\w-]+$/.test(text)) return text
  throw new MisuseError('--secret takes what an endpoint’s secret looks like: whsec_…')
}
