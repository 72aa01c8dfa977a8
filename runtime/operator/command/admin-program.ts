import { Argument, Command, Option } from 'commander'
import { createUser, MEMBER_ROLES, type MemberRole } from '../../account/members/users.ts'
import { createOauthClient } from '../../account/oauth/clients.ts'
import { listConnectedApps, revokeConnectedApp } from '../../account/oauth/connected-apps.ts'
import { render } from '../../cli/print.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { createLog } from '../../platform/log.ts'
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
import { decidePayout, PAYOUT_OUTCOMES, retryPayout, showHeldUp } from '../held-up-payouts.ts'
import { type CheckedLedger, checkLedger, requireBalanced } from '../ledger.ts'
import { showPayout } from '../payouts.ts'
import { listSetAside, retrySetAside } from '../set-aside.ts'
import { showSettlement } from '../settlements.ts'
import { addLookups } from './admin-lookups.ts'
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
import { operate } from './operate.ts'

/** Generated tables are large: only the verbs that need them wait for them. */
async function loadVersions() {
  return import('../../../generated/versions.ts')
}

/**
 * The operator's tool. Results go to stdout.
 *
 * @param say gets what is unusual. @param complain gets what was misused.
 */
export function createProgram(say: (line: string) => void, complain = say): Command {
  const program = new Command('admin')
    .description('Operates tenants, keys, pins, limits and the clock of this deployment’s database.')
    .exitOverride()
    .configureOutput({ writeErr: (text) => complain(text.trimEnd()) })
    .showHelpAfterError('(--help tells what it takes)')
  const noun = (name: string, about: string) =>
    program.commands.find((each) => each.name() === name) ?? program.command(name).description(about)
  const run: OperatorRunner = async (command, action) => {
    const result = await operate(say, action)
    process.stdout.write(render(result, command.opts().json === true))
  }
  const verb = (parent: Command, name: string, about: string) =>
    parent.command(name).description(about).option('--json', 'print one JSON object')

  addTenant(noun('tenant', 'merchants'), verb, run)
  addKey(noun('key', 'API keys'), verb, run)
  addSwitches(noun, verb, run)
  addPeople(noun, verb, run)
  addLedgers(noun, verb, run)
  addLookups(noun, verb, run)
  return program
}

function addTenant(tenant: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(tenant, 'create', 'make a tenant, pinned to the current version')
    .requiredOption('--name <name>', 'what it is called')
    .addOption(new Option('--plan <plan>', 'what it pays for').choices(PLANS).default('trial'))
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
  verb(key, 'create', 'make a key that belongs to the tenant’s first owner')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(
      new Option('--kind <kind>', 'where it is used').choices(['secret', 'publishable']).default('secret'),
    )
    .addOption(
      new Option('--scope <scope>', 'what it may do (default of secret keys: write)').choices(SCOPES),
    )
    .option('--allow-ip <cidr...>', 'from where it may be used (default: anywhere)')
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
    ['rotate', 'make a successor; the key works for 24 hours more', rotateKey],
    ['retire', 'mark the key pending revocation: it works for 24 hours more', retireKey],
    ['revoke', 'end the key at once', revokeKey],
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
    .requiredOption('--version <date>', 'the version')
    .action((options: { tenant: string; env: Environment; version: string }, command: Command) =>
      run(command, async (operator) => {
        const { versions } = await loadVersions()
        const { tenant: tenantId, env: environment, version } = options
        return setPin(operator, { tenantId, environment, version }, versions)
      }),
    )
  verb(noun('limit', 'rate limits'), 'lift', 'multiply one limit of a tenant for some hours')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(new Option('--bucket <bucket>', 'the limit').choices(BUCKETS).makeOptionMandatory())
    .addOption(
      new Option('--factor <factor>', 'of the ordinary limit').argParser(readNumber).makeOptionMandatory(),
    )
    .addOption(new Option('--hours <hours>', 'of real time').argParser(readNumber).makeOptionMandatory())
    .action(({ tenant: tenantId, env: environment, ...lift }: LiftOptions, command: Command) =>
      run(command, (operator) => liftLimit(operator, { tenantId, environment, ...lift })),
    )
  verb(noun('clock', 'the service’s clock'), 'advance', 'move the sandbox’s time forward')
    .addOption(new Option('--seconds <seconds>', 'how far').argParser(readWhole).makeOptionMandatory())
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
  verb(noun('audit', 'what was done'), 'verify', 'check that no entry was changed, taken away or slipped in')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .option('--contains <hash>', 'a head that was told before and must still be there')
    .action((options: VerifyOptions, command: Command) =>
      run(command, (operator) =>
        verifyAudit(operator, options.tenant, options.env, { contains: options.contains }),
      ),
    )
  verb(noun('ledger', 'money'), 'verify', 'check that a ledger is balanced; the exit code is 1 if it is not')
    .addOption(tenantOption())
    .action(async (options: { tenant: string }, command: Command) => {
      let checked: CheckedLedger | undefined
      await run(command, async (operator) => {
        checked = await checkLedger(operator, options.tenant)
        return checked
      })
      if (checked) requireBalanced(checked)
    })
  addPayouts(noun('payout', 'money on its way'), verb, run)
  verb(
    noun('settlement', 'what card use of a day comes to'),
    'show',
    'show a settlement, its lines by type, its payout, and what the ledger has of it',
  )
    .addArgument(new Argument('<settlement>', 'the settlement (stl_…)'))
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => showSettlement(operator, options.tenant, id)),
    )
  verb(
    noun('card-keys', 'keys that numbers of cards are sealed under'),
    'rotate',
    'make a new one, and seal every number under it',
  ).action((_: unknown, command: Command) =>
    run(command, (operator) => rotateCardKey(operator, createLog({ logLevel: 'warn' }))),
  )
  verb(
    noun('chain', 'where payouts in USDC are made'),
    'status',
    'show chains, signers, and payments under way',
  ).action((_: unknown, command: Command) => run(command, showChains))
  const setAside = noun('set-aside', 'rows whose work fails, so that workers leave them out')
  const selecting = (command: Command) =>
    command
      .argument('[id]', 'the resource (default: all)')
      .addOption(new Option('--env <environment>', 'the environment (default: both)').choices(ENVIRONMENTS))
      .option('--work <name>', 'the worker’s name for its work (default: all)')
  interface Selected {
    readonly env?: Environment
    readonly work?: string
  }
  selecting(verb(setAside, 'list', 'list the rows, with why they fail')).action(
    (id: string | undefined, { env: environment, work }: Selected, command: Command) =>
      run(command, (operator) => listSetAside(operator, { environment, work, id })),
  )
  selecting(verb(setAside, 'retry', 'let workers try the rows again at once')).action(
    (id: string | undefined, { env: environment, work }: Selected, command: Command) =>
      run(command, (operator) => retrySetAside(operator, { environment, work, id })),
  )
  verb(noun('usage', 'how much was asked for'), 'show', 'requests by day and bucket')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(new Option('--days <days>', 'how many, with today').argParser(readWhole).default(30))
    .action(({ tenant: tenantId, env: environment, days }: UsageOptions, command: Command) =>
      run(command, (operator) => showUsage(operator, { tenantId, environment, days })),
    )
}

function addPayouts(payout: Command, verb: AddVerb, run: OperatorRunner): void {
  const payoutArgument = () => new Argument('<payout>', 'the payout (po_…)')
  verb(payout, 'show', 'show a payout, and what chain, bank and ledger have of it')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => showPayout(operator, options.tenant, id)),
    )
  verb(payout, 'held-up', 'list the payouts that wait, since when and why').action(
    (_: unknown, command: Command) => run(command, showHeldUp),
  )
  verb(payout, 'retry', 'try a payout that is held up again, at once')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .action((id: string, options: { tenant: string }, command: Command) =>
      run(command, (operator) => retryPayout(operator, options.tenant, id)),
    )
  verb(payout, 'decide', 'say what became of a payout whose chain or bank contradicts itself')
    .addArgument(payoutArgument())
    .addOption(tenantOption())
    .addOption(
      new Option('--outcome <outcome>', 'as you have found out elsewhere')
        .choices(PAYOUT_OUTCOMES)
        .makeOptionMandatory(),
    )
    .action((id: string, options: { tenant: string; outcome: 'paid' | 'failed' }, command: Command) =>
      run(command, (operator) => decidePayout(operator, options.tenant, id, options.outcome)),
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
  verb(noun('oauth-client', 'platforms that act for merchants'), 'create', 'register a platform')
    .requiredOption('--name <name>', 'what it is called')
    .addOption(environmentOption())
    .requiredOption('--redirect-uri <uri...>', 'where it may be redirected to, exactly')
    .addOption(
      new Option('--scope <scope...>', 'what it may ask for').choices(OAUTH_SCOPES).makeOptionMandatory(),
    )
    .option('--confidential', 'it can keep a secret')
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
  const apps = noun('connected-app', 'what applications may do for a tenant')
  verb(apps, 'list', 'list the applications that members let act for a tenant')
    .addOption(tenantOption())
    .action(({ tenant }: { tenant: string }, command: Command) =>
      run(command, (operator) => listConnectedApps(operator, tenant)),
    )
  verb(apps, 'revoke', 'end what an application may do, at once')
    .argument('<id>', 'its id, as listed')
    .action((id: string, _: unknown, command: Command) =>
      run(command, (operator) => revokeConnectedApp(operator, id)),
    )
  verb(noun('user', 'members of tenants'), 'create', 'add a member who can sign in to the dashboard')
    .addOption(tenantOption())
    .requiredOption('--email <address>', 'their address')
    .addOption(new Option('--role <role>', 'what they may do').choices(MEMBER_ROLES).default('developer'))
    .action(({ tenant: tenantId, email, role }: UserOptions, command: Command) =>
      run(command, (operator) => createUser(operator, { tenantId, email, role })),
    )
}
