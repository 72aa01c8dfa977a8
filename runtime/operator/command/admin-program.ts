import { writeFileSync } from 'node:fs'
import { Argument, Command, CommanderError, Option } from 'commander'
import { createUser, MEMBER_ROLES, type MemberRole } from '../../account/members/users.ts'
import { createOauthClient } from '../../account/oauth/clients.ts'
import { listConnectedApps, revokeConnectedApp } from '../../account/oauth/connected-apps.ts'
import { render } from '../../cli/print.ts'
import { build } from '../../platform/build.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { createLog } from '../../platform/log.ts'
import { describeRelease, readRelease } from '../../platform/release.ts'
import { verifyAudit } from '../../tenants/admin/audit.ts'
import { createKey, retireKey, revokeKey, rotateKey, SCOPES, type Scope } from '../../tenants/admin/keys.ts'
import { BUCKETS, liftLimit } from '../../tenants/admin/limits.ts'
import { setPin } from '../../tenants/admin/pins.ts'
import { showTenant } from '../../tenants/admin/show.ts'
import { createTenant, PLANS, type Plan, verifyTenant } from '../../tenants/admin/tenants.ts'
import { showUsage } from '../../tenants/admin/usage.ts'
import type { KeyKind } from '../../tenants/keys/keys.ts'
import { OAUTH_SCOPES } from '../../tenants/keys/scopes.ts'
import { rotateCardKey } from '../card-keys.ts'
import { showChains } from '../chain.ts'
import { advanceClock } from '../clock.ts'
import { type CheckedLedger, checkLedger, requireBalanced } from '../ledger.ts'
import { listSetAside, retrySetAside } from '../set-aside.ts'
import { listSettings } from '../settings.ts'
import { showSettlement } from '../settlements.ts'
import { showVersionBlockers } from '../version-blockers.ts'
import { writeBlockersPage } from '../version-blockers-page.ts'
import { addBackups } from './admin-backup.ts'
import { addLookups } from './admin-lookups.ts'
import { addMoves } from './admin-moves.ts'
import { addNetwork } from './admin-network.ts'
import {
  type AddNoun,
  type AddVerb,
  environmentOption,
  keyArgument,
  type OperatorRunner,
  readNumber,
  readWhole,
  tenantArgument,
  tenantOption,
} from './admin-options.ts'
import { addPayouts } from './admin-payouts.ts'
import { operate } from './operate.ts'
import type { CommandSurroundings } from './surroundings.ts'

/** Loads the generated tables only for verbs that need them, because they are large. */
async function loadVersions() {
  return import('../../../generated/versions.ts')
}

/**
 * Creates the `admin` program.
 *
 * @param complain receives usage errors.
 */
export function createProgram(surroundings: CommandSurroundings, complain = surroundings.say): Command {
  const program = new Command('admin')
    .description(
      'Manages tenants, keys, pins, limits, payouts and the clock in the database of this deployment.',
    )
    .exitOverride()
    // The option --version of a verb is not that of the program.
    .enablePositionalOptions()
    .configureOutput({ writeOut: surroundings.print, writeErr: (text) => complain(text.trimEnd()) })
    .showHelpAfterError('(run with --help for usage)')
  const noun = (name: string, about: string) =>
    program.commands.find((each) => each.name() === name) ?? program.command(name).description(about)
  const run: OperatorRunner = async (command, action) => {
    const result = await operate(surroundings, action)
    surroundings.print(render(result, command.opts().json === true))
  }
  const verb = (parent: Command, name: string, about: string) =>
    parent.command(name).description(about).option('--json', 'print one JSON object')

  program.option('--version', 'print the version and the commit').on('option:version', () => {
    surroundings.print(`admin ${describeRelease(readRelease())}\n`)
    throw new CommanderError(0, 'commander.version', '')
  })
  verb(
    program,
    'settings',
    'list all settings with their value, source and meaning; secrets are hidden',
  ).action((options: { json?: true }) => {
    const settings = listSettings(surroundings.env)
    surroundings.print(render(settings, options.json === true))
  })
  addTenant(noun('tenant', 'merchants'), verb, run)
  addKey(noun('key', 'API keys'), verb, run)
  addSwitches(noun, verb, run)
  addPeople(noun, verb, run)
  addLedgers(noun, verb, run)
  addLookups(noun, verb, run)
  addMoves(noun, verb, run, surroundings)
  addNetwork(noun, verb, run, surroundings)
  addBackups(program, verb, run, surroundings)
  return program
}

function addTenant(tenant: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(tenant, 'create', 'create a tenant, pinned to the current version')
    .requiredOption('--name <name>', 'name of the tenant')
    .addOption(new Option('--plan <plan>', 'plan of the tenant').choices(PLANS).default('trial'))
    .action((options: { name: string; plan: Plan }, command: Command) =>
      run(command, async (operator) => createTenant(operator, options, (await loadVersions()).current)),
    )
  verb(tenant, 'show', 'show a tenant with its pins, members and keys')
    .addArgument(tenantArgument())
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => showTenant(operator, id)),
    )
  verb(tenant, 'verify', 'approve the business for card and settlement writes in live')
    .addArgument(tenantArgument())
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => verifyTenant(operator, id)),
    )
}

interface KeyOptions {
  readonly tenant: string
  readonly env: Environment
  readonly kind: KeyKind
  readonly scope?: Scope
  readonly allowIp?: readonly string[]
}

function addKey(key: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(key, 'create', 'create a key that belongs to the tenant’s first owner')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(
      new Option('--kind <kind>', 'kind of key').choices(['secret', 'publishable']).default('secret'),
    )
    .addOption(new Option('--scope <scope>', 'permissions (default for secret keys: write)').choices(SCOPES))
    .option('--allow-ip <cidr...>', 'networks from which it may be used (default: any)')
    .action((options: KeyOptions, command: Command) =>
      run(command, (operator) =>
        createKey(operator, {
          tenantId: options.tenant,
          environment: options.env,
          kind: options.kind,
          ...(options.scope === undefined ? {} : { scope: options.scope }),
          ...(options.allowIp === undefined ? {} : { allowIps: options.allowIp }),
        }),
      ),
    )
  const verbs = [
    ['rotate', 'create a successor; the old key works for another 24 hours', rotateKey],
    ['retire', 'mark the key pending revocation: it works for another 24 hours', retireKey],
    ['revoke', 'revoke the key immediately', revokeKey],
  ] as const
  for (const [name, about, act] of verbs) {
    verb(key, name, about)
      .addArgument(keyArgument())
      .action((id: string, _: unknown, command: Command) => run(command, (operator) => act(operator, id)))
  }
}

interface LiftOptions {
  readonly tenant: string
  readonly env: Environment
  readonly bucket: string
  readonly factor: number
  readonly hours: number
}

function addSwitches(noun: AddNoun, verb: AddVerb, run: OperatorRunner): void {
  verb(noun('pin', 'versions that tenants are pinned to'), 'set', 'pin a tenant’s environment to a version')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .requiredOption('--version <date>', 'version to pin')
    .action((options: { tenant: string; env: Environment; version: string }, command: Command) =>
      run(command, async (operator) => {
        const { versions } = await loadVersions()
        const { tenant: tenantId, env: environment, version } = options
        return setPin(operator, { tenantId, environment, version }, versions)
      }),
    )
  verb(
    noun('version', 'API versions'),
    'blockers',
    'list who still uses a version: tenants, keys, operations, and what their requests must change',
  )
    .addArgument(new Argument('<version>', 'date of the version'))
    .option('--html <file>', 'also write the list to a file as an HTML page')
    .action((version: string, { html }: { html?: string }, command: Command) =>
      run(command, async (operator) => {
        await build('documents')
        const blockers = await showVersionBlockers(operator, version, (await loadVersions()).versions)
        if (html !== undefined) writeFileSync(html, writeBlockersPage(blockers))
        return blockers
      }),
    )
  verb(noun('limit', 'rate limits'), 'lift', 'multiply a limit of a tenant for a number of hours')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(new Option('--bucket <bucket>', 'bucket of the limit').choices(BUCKETS).makeOptionMandatory())
    .addOption(
      new Option('--factor <factor>', 'multiple of the ordinary limit')
        .argParser(readNumber)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--hours <hours>', 'duration in real time').argParser(readNumber).makeOptionMandatory(),
    )
    .action(({ tenant: tenantId, env: environment, ...lift }: LiftOptions, command: Command) =>
      run(command, (operator) => liftLimit(operator, { tenantId, environment, ...lift })),
    )
  verb(noun('clock', 'service clock'), 'advance', 'advance the sandbox’s service time')
    .addOption(
      new Option('--seconds <seconds>', 'seconds to advance').argParser(readWhole).makeOptionMandatory(),
    )
    .action((options: { seconds: number }, command: Command) =>
      run(command, (operator, production) => advanceClock(operator, options.seconds, production)),
    )
}

interface VerifyOptions {
  readonly tenant: string
  readonly env: Environment
  readonly contains?: string
}

interface UsageOptions {
  readonly tenant: string
  readonly env: Environment
  readonly days: number
}

function addLedgers(noun: AddNoun, verb: AddVerb, run: OperatorRunner): void {
  verb(noun('audit', 'audit logs'), 'verify', 'check that no entry was changed, removed or inserted')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .option('--contains <hash>', 'a hash that was reported earlier and must still exist')
    .action((options: VerifyOptions, command: Command) =>
      run(command, (operator) =>
        verifyAudit(operator, options.tenant, options.env, { contains: options.contains }),
      ),
    )
  verb(
    noun('ledger', 'ledgers of tenants'),
    'verify',
    'check that a ledger is balanced; the exit code is 1 if it is not',
  )
    .addOption(tenantOption())
    .action(async (options: { tenant: string }, command: Command) => {
      let checked: CheckedLedger | undefined
      await run(command, async (operator) => {
        checked = await checkLedger(operator, options.tenant)
        return checked
      })
      if (checked) requireBalanced(checked)
    })
  addPayouts(noun('payout', 'payouts of tenants'), verb, run)
  verb(
    noun('settlement', 'daily card settlements'),
    'show',
    'show a settlement, its lines by type, its payout and its ledger postings',
  )
    .addArgument(new Argument('<settlement>', 'settlement ID (stl_…)'))
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => showSettlement(operator, options.tenant, id)),
    )
  verb(
    noun('card-keys', 'encryption keys of card numbers'),
    'rotate',
    'create a new key and reseal every number with it',
  ).action((_: unknown, command: Command) =>
    run(command, (operator, _production, room) =>
      rotateCardKey(operator, room, createLog({ logLevel: 'warn' })),
    ),
  )
  verb(
    noun('chain', 'chains for USDC payouts'),
    'status',
    'show chains, signers and payments in progress',
  ).action((_: unknown, command: Command) => run(command, showChains))
  const setAside = noun('set-aside', 'rows that workers skip because their work failed')
  const selecting = (command: Command) =>
    command
      .argument('[id]', 'resource ID (default: all)')
      .addOption(new Option('--env <environment>', 'environment (default: both)').choices(ENVIRONMENTS))
      .option('--work <name>', 'name of the work (default: all)')
  interface Selected {
    readonly env?: Environment
    readonly work?: string
  }
  selecting(verb(setAside, 'list', 'list the rows with the reason of the failure')).action(
    (id: string | undefined, { env: environment, work }: Selected, command: Command) =>
      run(command, (operator) => listSetAside(operator, { environment, work, id })),
  )
  selecting(verb(setAside, 'retry', 'let workers retry the rows immediately')).action(
    (id: string | undefined, { env: environment, work }: Selected, command: Command) =>
      run(command, (operator) => retrySetAside(operator, { environment, work, id })),
  )
  verb(noun('usage', 'API usage'), 'show', 'show requests by day and bucket')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(
      new Option('--days <days>', 'number of days, including today').argParser(readWhole).default(30),
    )
    .action(({ tenant: tenantId, env: environment, days }: UsageOptions, command: Command) =>
      run(command, (operator) => showUsage(operator, { tenantId, environment, days })),
    )
}

interface OauthClientOptions {
  readonly name: string
  readonly env: Environment
  readonly redirectUri: readonly string[]
  readonly scope: readonly string[]
  readonly confidential?: true
}

interface UserOptions {
  readonly tenant: string
  readonly email: string
  readonly role: MemberRole
}

function addPeople(noun: AddNoun, verb: AddVerb, run: OperatorRunner): void {
  verb(noun('oauth-client', 'platforms that act on behalf of merchants'), 'create', 'register a platform')
    .requiredOption('--name <name>', 'name of the platform')
    .addOption(environmentOption())
    .requiredOption('--redirect-uri <uri...>', 'exact URIs to which members may be redirected')
    .addOption(
      new Option('--scope <scope...>', 'scopes that it may request')
        .choices(OAUTH_SCOPES)
        .makeOptionMandatory(),
    )
    .option('--confidential', 'the platform can keep a client secret')
    .action(({ env: environment, redirectUri, scope, ...options }: OauthClientOptions, command: Command) =>
      run(command, (operator) =>
        createOauthClient(operator, {
          name: options.name,
          environment,
          redirectUris: redirectUri,
          scopes: scope,
          confidential: options.confidential === true,
        }),
      ),
    )
  const apps = noun('connected-app', 'applications with access to a tenant')
  verb(apps, 'list', 'list the applications that members have authorized for a tenant')
    .addOption(tenantOption())
    .action(({ tenant }: { tenant: string }, command: Command) =>
      run(command, (operator) => listConnectedApps(operator, tenant)),
    )
  verb(apps, 'revoke', 'revoke the access of an application immediately')
    .argument('<id>', 'ID of the connected app, from the list')
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => revokeConnectedApp(operator, id)),
    )
  verb(noun('user', 'members of tenants'), 'create', 'add a member who can sign in to the dashboard')
    .addOption(tenantOption())
    .requiredOption('--email <address>', 'email address of the member')
    .addOption(new Option('--role <role>', 'role of the member').choices(MEMBER_ROLES).default('developer'))
    .action(({ tenant: tenantId, email, role }: UserOptions, command: Command) =>
      run(command, (operator) => createUser(operator, { tenantId, email, role })),
    )
}
