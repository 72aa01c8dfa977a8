/** Commands that list and show records, and that disable or reset members. */
import { Argument, type Command, Option } from 'commander'
import { disableUser, listMembers, resetUser, showMember } from '../../account/members/members.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { BUCKETS } from '../../tenants/admin/limits.ts'
import { listKeys, listLifts, listPins, showKey, showLimit, showPin } from '../../tenants/admin/show.ts'
import { listTenants, requireTenant } from '../../tenants/admin/tenants.ts'
import {
  type AddNoun,
  type AddVerb,
  environmentOption,
  keyArgument,
  type OperatorRunner,
  readWhole,
  tenantOption,
} from './admin-options.ts'

interface OfTenant {
  readonly tenant: string
  readonly env?: Environment
}

type InEnvironment = OfTenant & { readonly env: Environment }

const anyEnvironment = () =>
  new Option('--env <environment>', 'limit to this environment (default: both)').choices(ENVIRONMENTS)

/** Adds `list` and `show` to the nouns. */
export function addLookups(noun: AddNoun, verb: AddVerb, run: OperatorRunner): void {
  verb(noun('tenant', 'merchants'), 'list', 'list tenants, oldest first')
    .addOption(new Option('--limit <count>', 'maximum number of tenants').argParser(readWhole).default(100))
    .option('--after <tenant>', 'start after this tenant, the last one of the previous page')
    .action((options: { limit: number; after?: string }, command: Command) =>
      run(command, (operator) => listTenants(operator, options)),
    )
  addKeyLookups(noun('key', 'API keys'), verb, run)
  addPinLookups(noun('pin', 'versions that tenants are pinned to'), verb, run)
  addLimitLookups(noun('limit', 'rate limits'), verb, run)
  addUserVerbs(noun('user', 'members of tenants'), verb, run)
}

function addKeyLookups(key: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(key, 'list', 'list the keys of a tenant, oldest first, including revoked keys')
    .addOption(tenantOption())
    .addOption(anyEnvironment())
    .action(({ tenant, env }: OfTenant, command: Command) =>
      run(command, (operator) => listKeys(operator, tenant, env)),
    )
  verb(key, 'show', 'show a key: its scope, allowed networks and last use')
    .addArgument(keyArgument())
    .action((id: string, _: unknown, command: Command) => run(command, (operator) => showKey(operator, id)))
}

function addPinLookups(pin: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(pin, 'list', 'list the versions that a tenant is pinned to')
    .addOption(tenantOption())
    .action(({ tenant }: OfTenant, command: Command) =>
      run(command, (operator) => listPins(operator, tenant)),
    )
  verb(pin, 'show', 'show the pinned version of a tenant’s environment, and since when')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .action(({ tenant, env }: InEnvironment, command: Command) =>
      run(command, (operator) => showPin(operator, tenant, env)),
    )
}

function addLimitLookups(limit: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(limit, 'list', 'list the current lifts of a tenant’s limits')
    .addOption(tenantOption())
    .addOption(anyEnvironment())
    .action(({ tenant, env }: OfTenant, command: Command) =>
      run(command, (operator) => listLifts(operator, tenant, env)),
    )
  verb(limit, 'show', 'show a limit of a tenant with its current lifts')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(new Option('--bucket <bucket>', 'the limit').choices(BUCKETS).makeOptionMandatory())
    .action(
      ({ tenant, env, bucket }: InEnvironment & { bucket: (typeof BUCKETS)[number] }, command: Command) =>
        run(command, (operator) => showLimit(operator, tenant, env, bucket)),
    )
}

function addUserVerbs(user: Command, verb: AddVerb, run: OperatorRunner): void {
  const userArgument = () => new Argument('<user>', 'member ID (mem_…)')
  verb(user, 'list', 'list the members of a tenant, oldest first')
    .addOption(tenantOption())
    .action(({ tenant }: OfTenant, command: Command) =>
      run(command, async (operator) => {
        await requireTenant(operator.control, tenant)
        return { data: await listMembers(operator, tenant) }
      }),
    )
  const verbs = [
    ['show', 'show a member: role, sign-in status and last activity', showMember],
    ['disable', 'end a member’s sessions immediately and block sign-in', disableUser],
    ['reset', 'give a member a new password and a new TOTP secret, and end their sessions', resetUser],
  ] as const
  for (const [name, about, act] of verbs) {
    verb(user, name, about)
      .addArgument(userArgument())
      .action((id: string, _: unknown, command: Command) => run(command, (operator) => act(operator, id)))
  }
}
