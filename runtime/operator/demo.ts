import { makeMember } from '../account/members/users.ts'
import type { Database, Statement } from '../database/database.ts'
import { newId } from '../platform/ids.ts'
import { seal, unseal } from '../platform/secrets.ts'
import { change, type Operator, type OperatorNote } from '../tenants/admin/change.ts'
import { insertKey, type NewKey } from '../tenants/admin/keys.ts'
import { insertTenant } from '../tenants/admin/tenants.ts'

const EMAIL = 'owner@demo.example'
const CONTEXT = 'deployment.demo_secrets'

/** Secrets of the demo tenant. The ready line shows them once. */
export interface DemoSecrets {
  readonly keys: {
    readonly sandbox_secret: string
    readonly sandbox_publishable: string
    readonly live_secret: string
    readonly live_publishable: string
  }
  readonly dashboard: { readonly email: string; readonly password: string; readonly totp_secret: string }
}

export interface Demo {
  readonly tenantId: string
  /** Present only until a start has shown them. */
  readonly secrets?: DemoSecrets
}

interface DeploymentRow {
  readonly demo_tenant_id: string | null
  readonly demo_secrets: Buffer | null
}

const READ: Statement = { text: 'SELECT demo_tenant_id, demo_secrets FROM control.deployment' }

const LOCK: Statement = { text: `${READ.text} FOR UPDATE` }

const REMEMBER: Statement = { text: 'UPDATE control.deployment SET demo_tenant_id = $1, demo_secrets = $2' }

const FORGET: Statement = { text: 'UPDATE control.deployment SET demo_secrets = NULL' }

function demoOf(row: DeploymentRow | undefined, pepper: string): Demo | undefined {
  if (!row?.demo_tenant_id) return undefined
  const tenantId = row.demo_tenant_id
  if (!row.demo_secrets) return { tenantId }
  const secrets: DemoSecrets = JSON.parse(unseal(pepper, row.demo_secrets, CONTEXT))
  return { tenantId, secrets }
}

/** Returns the demo tenant, if it exists. */
export async function findDemo(operator: Operator): Promise<Demo | undefined> {
  const { rows } = await operator.control.query<DeploymentRow>(READ)
  return demoOf(rows[0], operator.pepper)
}

/**
 * Creates the demo tenant if it does not exist: plan enterprise, verified, with keys of scope admin in both
 * environments and an owner who can sign in. The same transaction records its existence and stores its sealed secrets
 * until `forgetDemoSecrets`, so that a start that is killed neither loses nor duplicates it.
 */
export async function ensureDemo(operator: Operator, currentVersion: string): Promise<Demo> {
  const known = await findDemo(operator)
  if (known) return known
  const now = operator.clock.service('live')
  const tenantId = newId('ten', now)
  const owner = await makeMember(operator.pepper, tenantId, { email: EMAIL, role: 'owner' }, now)
  return change(operator, async (tx, note) => {
    const locked = await tx.query<DeploymentRow>(LOCK)
    const first = demoOf(locked.rows[0], operator.pepper)
    if (first) return first // another start was faster
    const tenant = { name: 'Demo', plan: 'enterprise', verified: true, version: currentVersion } as const
    await insertTenant(tx, tenantId, tenant, owner.member, now)
    note({ tenantId, action: 'tenant.created', targetId: tenantId })
    const keys = await insertKeys(tx, operator, tenantId, owner.member.id, note)
    const secrets: DemoSecrets = { keys, dashboard: { email: EMAIL, ...owner.credentials } }
    await tx.query(REMEMBER, [tenantId, seal(operator.pepper, JSON.stringify(secrets), CONTEXT)])
    return { tenantId, secrets }
  })
}

async function insertKeys(
  tx: Database,
  operator: Operator,
  tenantId: string,
  memberId: string,
  note: (note: OperatorNote) => void,
): Promise<DemoSecrets['keys']> {
  const make = async (kind: NewKey['kind'], environment: NewKey['environment']) => {
    const scope = kind === 'secret' ? 'admin' : null
    const key = { tenantId, environment, kind, scope, memberId, allowedIps: [], replacesId: null } as const
    const { id, secret } = await insertKey(tx, operator.pepper, key, operator.clock.service(environment))
    note({ tenantId, action: 'key.created', targetId: id })
    return secret
  }
  return {
    sandbox_secret: await make('secret', 'sandbox'),
    sandbox_publishable: await make('publishable', 'sandbox'),
    live_secret: await make('secret', 'live'),
    live_publishable: await make('publishable', 'live'),
  }
}

/** Deletes the stored secrets after they have been shown. */
export async function forgetDemoSecrets(operator: Operator): Promise<void> {
  await operator.control.query(FORGET)
}
