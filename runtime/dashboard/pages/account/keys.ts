/** API keys of the tenant. Owners create, rotate, and revoke them; each secret is shown once. */
import { hash } from 'node:crypto'
import { sandboxesOfKeys } from '../../../account/sandboxes/queries.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { bodyOf } from '../../../platform/ids.ts'
import { ControlError } from '../../../tenants/admin/change.ts'
import {
  createKey,
  RETIREMENT_MS,
  readNetworks,
  revokeKey,
  rotateKey,
  SCOPES,
  type Scope,
} from '../../../tenants/admin/keys.ts'
import { showTenant } from '../../../tenants/admin/show.ts'
import { keyField, showSecret } from '../../engine/form-page.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ListColumn } from '../../engine/shapes.ts'
import { code, orDash, sentence, state, when } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, mayAct } from '../../engine/visit.ts'
import { choice, codeField, facts, field, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'

interface Key {
  readonly id: string
  readonly environment: string
  readonly kind: string
  readonly scope: string | null
  readonly hint: string
  readonly allowed_ips: readonly string[]
  readonly created: string
  readonly retired_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

const PATH = 'keys'

export function keyRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) => {
    const list = `/${environment}/${PATH}`
    const owners = { environment, needs: 'owner' } as const
    const found = (visit: DashboardVisit, id: string) => findKey(visit, id)
    const change = (name: 'rotate' | 'revoke'): DashboardRoute[] => [
      {
        ...owners,
        method: 'GET',
        path: `${list}/:id/${name}`,
        handle: async (visit, id) => showChange(visit, await found(visit, id), name, send),
      },
      {
        ...owners,
        method: 'POST',
        path: `${list}/:id/${name}`,
        handle: async (visit, id) => {
          const key = await found(visit, id)
          if (name === 'rotate') return rotate(visit, key, send)
          await revokeKey(visit.operator, key.id)
          visit.finish(list, 'API key revoked')
        },
      },
    ]
    return [
      {
        method: 'GET' as const,
        path: list,
        environment,
        needs: 'developer' as const,
        handle: (visit: DashboardVisit) => showKeys(visit, send),
      },
      {
        ...owners,
        method: 'GET' as const,
        path: `${list}/new`,
        handle: (visit: DashboardVisit) => showNew(visit, send),
      },
      {
        ...owners,
        method: 'POST' as const,
        path: `${list}/new`,
        answerBefore: (visit: DashboardVisit) => refuseNetworks(visit, send),
        handle: (visit: DashboardVisit) => create(visit, send),
      },
      ...change('rotate'),
      ...change('revoke'),
    ]
  })
}

async function readKeys({ operator, member, environment }: DashboardVisit): Promise<Key[]> {
  const { keys } = await showTenant(operator, member.tenantId)
  return (keys as unknown as readonly Key[]).filter((key) => key.environment === environment).toReversed()
}

async function findKey(visit: DashboardVisit, id: string): Promise<Key> {
  const key = (await readKeys(visit)).find((each) => each.id === id)
  if (!key) throw new ApiRefused(404, 'API key not found in this environment.')
  return key
}

function stateOf({ revoked_at, retired_at }: Key): string {
  if (revoked_at !== null) return 'revoked'
  return retired_at === null ? 'active' : 'rotated'
}

const COLUMNS: readonly ListColumn<Key>[] = [
  {
    title: 'Key',
    show: ({ kind, hint }) => html`${kind === 'secret' ? 'Secret' : 'Publishable'} <code>…${hint}</code>`,
  },
  { title: 'Scope', show: ({ scope }) => orDash(scope) },
  { title: 'Status', show: (key) => state(stateOf(key)) },
  { title: 'Allowed IPs', show: ({ allowed_ips }) => allowed_ips.join(', ') || 'Any' },
  { title: 'Last used', show: ({ last_used_at }) => (last_used_at === null ? 'Never' : when(last_used_at)) },
  { title: 'Created', show: ({ created }) => when(created) },
]

/** The column that names the sandbox of each key. Live has no sandboxes. */
async function sandboxColumn({ operator, member, environment }: DashboardVisit): Promise<ListColumn<Key>[]> {
  if (environment === 'live') return []
  const names = await sandboxesOfKeys(operator.control, member.tenantId)
  return [{ title: 'Sandbox', show: ({ id }) => names.get(id) ?? 'Default' }]
}

async function showKeys(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const [keys, ofSandbox] = await Promise.all([readKeys(visit), sandboxColumn(visit)])
  const [first, ...others] = COLUMNS
  const columns = [first!, ...ofSandbox, ...others]
  const isOwner = mayAct(visit.member.role, 'owner')
  const link = linkIn(visit)
  const changes: ListColumn<Key> = {
    title: 'Actions',
    show: (key) =>
      key.revoked_at === null
        ? html`${key.retired_at === null && html`${link(`${PATH}/${key.id}/rotate`, 'Rotate')} `}${link(`${PATH}/${key.id}/revoke`, 'Revoke')}`
        : '–',
  }
  const content = html`<p class="quiet">API keys authenticate your requests. Each key works in one environment only.</p>
${isOwner && html`<div class="actions"><a class="button" href="/${visit.environment}/${PATH}/new">Create API key</a></div>`}
${
  keys.length > 0
    ? writeTable('API keys', isOwner ? [...columns, changes] : columns, keys, link)
    : html`<p class="empty">No API keys yet. Create a key to send your first request.</p>`
}`
  send(visit, 200, { title: 'API keys', path: PATH, content })
}

interface Typed {
  readonly scope: string
  readonly allow: string
  readonly fault?: string
}

function showNew(
  visit: DashboardVisit,
  send: SendFramed,
  typed: Typed = { scope: 'write', allow: '' },
): void {
  const address = `/${visit.environment}/${PATH}/new`
  const content = html`${typed.fault !== undefined && notice('bad', 'Check the highlighted fields.')}
<form method="post" action="${address}">
${visit.guard(address)}${keyField()}
${choice({
  name: 'scope',
  label: 'Scope',
  value: typed.scope,
  options: [
    ['read', 'Read'],
    ['write', 'Read and write'],
    ['admin', 'Admin: read and write, including account settings'],
    ['publishable', 'Publishable: for apps and browsers'],
  ],
})}
${field({
  name: 'allow',
  label: 'Allowed IP addresses',
  optional: true,
  value: typed.allow,
  hint: 'IP addresses or CIDR ranges, separated by commas. Leave empty to allow any address.',
  fault: typed.fault,
})}
${codeField('key')}
<div class="actions"><button type="submit">Create API key</button> <a class="button second" href="/${visit.environment}/${PATH}">Back</a></div>
</form>`
  send(visit, typed.fault === undefined ? 200 : 422, { title: 'Create API key', path: PATH, content })
}

const readTyped = ({ request }: DashboardVisit) => ({
  scope: formField(request, 'scope'),
  allow: formField(request, 'allow').trim(),
})

const splitNetworks = (allow: string) => allow.split(/[\s,]+/).filter((each) => each !== '')

/** Shows the form again if the allowlist is invalid. @returns whether a response was sent. */
function refuseNetworks(visit: DashboardVisit, send: SendFramed): boolean {
  const typed = readTyped(visit)
  try {
    readNetworks(splitNetworks(typed.allow))
    return false
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    showNew(visit, send, { ...typed, fault: sentence(error.message) })
    return true
  }
}

async function create(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { request, member, environment } = visit
  const { scope, allow } = readTyped(visit)
  const isPublishable = scope === 'publishable'
  if (!isPublishable && !SCOPES.some((each) => each === scope))
    throw new ApiRefused(422, 'Invalid scope. Choose a scope from the list.')
  const once = hash(
    'sha256',
    `key ${member.tenantId} ${environment} ${formField(request, 'idempotency_key')}`,
    'buffer',
  )
  try {
    const key = await createKey(visit.operator, {
      tenantId: member.tenantId,
      environment,
      kind: isPublishable ? 'publishable' : 'secret',
      ...(!isPublishable && { scope: scope as Scope }),
      allowIps: splitNetworks(allow),
      memberId: member.memberId,
      id: `key_${bodyOf(once)}`,
    })
    showSecret(visit, 'New API key', PATH, key.secret, `/${environment}/${PATH}`, send)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new ApiRefused(409, `This form was already submitted: ${error.message}.`)
  }
}

const CHANGES = {
  rotate: {
    button: 'Rotate API key',
    warning: `A new key with the same scope is created and shown once. The old key works for ${RETIREMENT_MS / 3_600_000} more hours.`,
    isDanger: false,
  },
  revoke: {
    button: 'Revoke API key',
    warning: 'Requests with this key fail immediately. You cannot undo this.',
    isDanger: true,
  },
} as const

function showChange(visit: DashboardVisit, key: Key, name: keyof typeof CHANGES, send: SendFramed): void {
  const { button, warning, isDanger } = CHANGES[name]
  const address = `/${visit.environment}/${PATH}/${key.id}/${name}`
  const content = html`${notice('warn', warning)}
${facts([
  ['API key', code(key.id)],
  ['Ending in', code(key.hint)],
])}
<form method="post" action="${address}">${visit.guard(address)}
${visit.takesCode && codeField(name)}
<div class="actions"><button type="submit"${isDanger && html` class="danger"`}>${button}</button> <a class="button second" href="/${visit.environment}/${PATH}">Back</a></div>
</form>`
  send(visit, 200, { title: button, path: PATH, content })
}

async function rotate(visit: DashboardVisit, { id }: Key, send: SendFramed): Promise<void> {
  try {
    const successor = await rotateKey(visit.operator, id)
    showSecret(visit, 'New API key', PATH, successor.secret, `/${visit.environment}/${PATH}`, send)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new ApiRefused(409, sentence(error.message))
  }
}
