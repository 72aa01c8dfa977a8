/** `svc open`: opens pages of the dashboard in the browser. */
import { Argument, type Command, Option } from 'commander'
import { records } from '../../generated/canonical/records.ts'
import { service } from '../../generated/client/src/2026-05-19/index.ts'
import { GUIDES } from './guides.ts'
import { openAddress } from './sign-in/open-address.ts'
import { DEFAULT_PROFILE } from './sign-in/profiles.ts'
import { MisuseError, ownProfiles, readHttpUrl, type Surroundings } from './svc-session.ts'

/** Default dashboard address of `npm start`. */
export const CONSOLE_URL = 'http://127.0.0.1:4000'

interface OpenWords {
  readonly profile?: string
  readonly authUrl?: string
  readonly browser: boolean
}

/** Adds `svc open`. */
export function addOpen(program: Command, { print }: Surroundings): void {
  program
    .command('open')
    .description('open the dashboard, the documentation, a guide, or the API reference for an identifier')
    .addArgument(
      new Argument('[what]', `dashboard, docs, an identifier, or a guide: ${GUIDES.join(', ')}`).default(
        'dashboard',
      ),
    )
    .addOption(new Option('--auth-url <url>', 'address of the dashboard').env('SVC_AUTH_URL'))
    .option('--no-browser', 'only print the address')
    .addHelpText(
      'after',
      '\nExamples:\n  svc open\n  svc open webhooks\n  svc open pass_01jx1a2b3c4d5e6f7g8h9j0k1m',
    )
    .action(async (what: string, _words: object, command: Command) => {
      const words = command.optsWithGlobals<OpenWords>()
      const address = new URL(pathOf(what), readHttpUrl('--auth-url', consoleOf(words))).href
      print(address)
      if (words.browser) await openAddress(address)
    })
}

/**
 * Returns the path of a page.
 * @throws MisuseError if the page does not exist.
 */
export function pathOf(what: string): string {
  if (what === 'dashboard') return '/'
  if (what === 'docs') return '/docs'
  if (GUIDES.includes(what)) return `/docs/${what}`
  const prefix = /^([a-z]+)_[0-9a-hjkmnp-tv-z]{26}$/.exec(what)?.[1] ?? ''
  const reader = readerOf(prefix)
  if (!reader)
    throw new MisuseError(
      `unknown page ${JSON.stringify(what)}: expected dashboard, docs, a guide, or an identifier such as pass_…`,
    )
  return `/docs/${service.version}#${reader}`
}

/** Returns the operation that reads an object, by the prefix of its identifier. */
function readerOf(prefix: string): string | undefined {
  const found = Object.entries(records).find(([each]) => each === prefix)?.[1]
  return found && 'read' in found ? found.read : undefined
}

function consoleOf({ authUrl, profile = DEFAULT_PROFILE }: OpenWords): string {
  return authUrl ?? ownProfiles().read(profile)?.auth_url ?? CONSOLE_URL
}
