import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { render } from './print.ts'
import { discover, revokeToken } from './sign-in/authorization-server.ts'
import { authorize } from './sign-in/authorize.ts'
import { openAddress } from './sign-in/open-address.ts'
import { DEFAULT_PROFILE, requireName } from './sign-in/profiles.ts'
import { CONSOLE_URL } from './svc-open.ts'
import {
  baseUrlOf,
  openSession,
  ownProfiles,
  readHttpUrl,
  SignInError,
  type Surroundings,
  type SvcSessionOptions,
} from './svc-session.ts'

/** OAuth client identifiers, which are the same in every installation. */
const CLIENT_IDS = { sandbox: 'svc-cli', live: 'svc-cli-live' } as const

/** Time limit for the sign-in in the browser, in milliseconds. */
const PATIENCE_MS = 600_000

interface LoginWords extends SvcSessionOptions {
  readonly env: Environment
  readonly authUrl: string
  readonly scope: string
  readonly browser: boolean
  readonly json?: true
}

/** Adds `svc login` and `svc logout`. */
export function addLogin(program: Command, surroundings: Surroundings): void {
  program
    .command('login')
    .description('sign in with your browser, and store the tokens on this machine')
    .addOption(new Option('--env <environment>', 'sandbox or live').choices(ENVIRONMENTS).default('sandbox'))
    .option('--scope <scopes>', 'scopes to request: read, write, admin, pass:read, …', 'admin')
    .addOption(
      new Option('--auth-url <url>', 'address of the dashboard, where you sign in')
        .env('SVC_AUTH_URL')
        .default(CONSOLE_URL),
    )
    .option('--no-browser', 'only print the address')
    .addHelpText(
      'after',
      `
Examples:
  svc login
  svc login --env live --profile live --scope read
  svc get /v1/me --profile live`,
    )
    .action((_words: object, command: Command) => login(command.optsWithGlobals<LoginWords>(), surroundings))
  program
    .command('logout')
    .description('sign out: revoke the tokens, and remove them from this machine')
    .addHelpText('after', '\nExamples:\n  svc logout\n  svc logout --profile live')
    .action((_words: object, command: Command) =>
      logout(command.optsWithGlobals<SvcSessionOptions>(), surroundings),
    )
}

async function login(words: LoginWords, { print, say, interruption }: Surroundings): Promise<void> {
  const { env: environment, scope } = words
  const name = requireName(words.profile ?? DEFAULT_PROFILE)
  const base_url = readHttpUrl('--base-url', words.baseUrl ?? baseUrlOf(environment)).href.replace(/\/$/, '')
  const authUrl = readHttpUrl('--auth-url', words.authUrl).href
  const signal = AbortSignal.any([interruption(), lateness()])
  const server = await discover(authUrl, signal)
  const client_id = CLIENT_IDS[environment]
  const show = (address: string) => {
    say(`To sign in, open this address in a browser on this machine:\n\n  ${address}\n`)
    if (words.browser) openAddress(address).catch(() => {}) // the user can open the printed address instead
  }
  const tokens = await authorize(server, { clientId: client_id, scope, show, signal })
  const profiles = ownProfiles()
  const { issuer: auth_url, token_endpoint, revocation_endpoint } = server
  const signing_seed = profiles.read(name)?.signing_seed ?? randomBytes(32).toString('base64url')
  profiles.write(name, {
    ...tokens,
    ...{ environment, base_url, auth_url, token_endpoint, revocation_endpoint, client_id, signing_seed },
    scope: tokens.scope || scope,
  })
  say(`Signed in. The tokens are stored in ${profiles.pathOf(name)}`)
  const { client } = openSession({ profile: name })
  const { tenant } = await client.getMe()
  const who = { profile: name, tenant: tenant.name, tenant_id: tenant.id, environment, base_url }
  print(render({ ...who, scope: tokens.scope || scope }, words.json === true).trimEnd())
}

function lateness(): AbortSignal {
  const controller = new AbortController()
  const fail = () =>
    controller.abort(new SignInError('the sign-in timed out after 10 minutes: run svc login again'))
  setTimeout(fail, PATIENCE_MS).unref()
  return controller.signal
}

async function logout({ profile }: SvcSessionOptions, { say }: Surroundings): Promise<void> {
  const name = requireName(profile ?? DEFAULT_PROFILE)
  const profiles = ownProfiles()
  const { revocation_endpoint, client_id, refresh_token } = profiles.read(name) ?? {}
  if (!revocation_endpoint || !client_id || !refresh_token) {
    throw new SignInError(`the profile ${name} is not signed in`)
  }
  // Remove the local tokens first, so that they are gone even if the revocation fails.
  profiles.remove(name)
  await revokeToken(revocation_endpoint, client_id, refresh_token)
  say(`Signed out. The tokens of the profile ${name} are revoked and removed from this machine.`)
}
