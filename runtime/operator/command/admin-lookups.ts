/** What operators look up, and how they let a member in again or keep one out. */
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
  new Option('--env <environment>', 'only of this environment (default: both)').choices(ENVIRONMENTS)

/** Adds `list` and `show` to the nouns that have something to look up. */
export function addLookups(noun: AddNoun, verb: AddVerb, run: OperatorRunner): void {
  verb(noun('tenant', 'merchants'), 'list', 'list tenants, the oldest first')
    .addOption(new Option('--limit <count>', 'how many').argParser(readWhole).default(100))
    .option('--after <tenant>', 'those behind this one: the last of the list before')
    .action((options: { limit: number; after?: string }, command: Command) =>
      run(command, (operator) => listTenants(operator, options)),
    )
  addKeyLookups(noun('key', 'API keys'), verb, run)
  addPinLookups(noun('pin', 'versions that tenants are pinned to'), verb, run)
  addLimitLookups(noun('limit', 'rate limits'), verb, run)
  addUserVerbs(noun('user', 'members of tenants'), verb, run)
}

function addKeyLookups(key: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(key, 'list', 'list the keys of a tenant, the oldest first; revoked ones too')
    .addOption(tenantOption())
    .addOption(anyEnvironment())
    .action(({ tenant, env }: OfTenant, command: Command) =>
      run(command, (operator) => listKeys(operator, tenant, env)),
    )
  verb(key, 'show', 'show a key: what it may do, from where, and when it was last used')
    .addArgument(keyArgument())
    .action((id: string, _: unknown, command: Command) => run(command, (operator) => showKey(operator, id)))
}

function addPinLookups(pin: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(pin, 'list', 'list the versions that a tenant is pinned to')
    .addOption(tenantOption())
    .action(({ tenant }: OfTenant, command: Command) =>
      run(command, (operator) => listPins(operator, tenant)),
    )
  verb(pin, 'show', 'show the version that an environment of a tenant is pinned to, and since when')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .action(({ tenant, env }: InEnvironment, command: Command) =>
      run(command, (operator) => showPin(operator, tenant, env)),
    )
}

function addLimitLookups(limit: Command, verb: AddVerb, run: OperatorRunner): void {
  verb(limit, 'list', 'list the lifts of a tenant’s limits that are in force')
    .addOption(tenantOption())
    .addOption(anyEnvironment())
    .action(({ tenant, env }: OfTenant, command: Command) =>
      run(command, (operator) => listLifts(operator, tenant, env)),
    )
  verb(limit, 'show', 'show a limit of a tenant, with the lifts of it that are in force')
    .addOption(tenantOption())
    .addOption(environmentOption())
    .addOption(new Option('--bucket <bucket>', 'the limit').choices(BUCKETS).makeOptionMandatory())
    .action(
      ({ tenant, env, bucket }: InEnvironment & { bucket: (typeof BUCKETS)[number] }, command: Command) =>
        run(command, (operator) => showLimit(operator, tenant, env, bucket)),
    )
}

function addUserVerbs(user: Command, verb: AddVerb, run: OperatorRunner): void {
  const userArgument = () => new Argument('<user>', 'the member’s identifier (mem_…)')
  verb(user, 'list', 'list the members of a tenant, the oldest first')
    .addOption(tenantOption())
    .action(({ tenant }: OfTenant, command: Command) =>
      run(command, async (operator) => {
        await requireTenant(operator.control, tenant)
        return { data: await listMembers(operator, tenant) }
      }),
    )
  const verbs = [
    ['show', 'show a member: the role, whether they can sign in, and when they were last there', showMember],
    ['disable', 'end a member’s sessions at once, and refuse to sign the member in', disableUser],
    ['reset', 'give a member a new password and a new secret for codes, and end their sessions', resetUser],
  ] as const
  for (const [name, about, act] of verbs) {
    verb(user, name, about)
      .addArgument(userArgument())
      .action((id: string, _: unknown, command: Command) => run(command, (operator) => act(operator, id)))
  }
}
