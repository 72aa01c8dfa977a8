/** Every error code of the documents: produced here, or said why not. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { current, versions } from '../../../generated/versions.ts'
import { USDC_CHAINS } from '../../../runtime/money/chain/usdc-chains.ts'
import { NOT_WRITTEN_YET } from '../../../runtime/process/handlers.ts'
import { revokeKey } from '../../../runtime/tenants/admin/keys.ts'
import { verifyTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { issueToken } from '../../support/access-tokens.ts'
import { openRelayedDatabase } from '../../support/database.ts'
import { makePayable } from '../../support/payable.ts'
import type { Relay } from '../../support/relay.ts'
import {
  type Answer,
  type Call,
  makeKey,
  makeTenant,
  type Send,
  START,
  speak,
  useService,
} from '../../support/service.ts'
import { issuePass, makeTemplate, someoneWaits, TEMPLATE, whileHeld } from '../fixtures.ts'

const DAY = 86_400_000

const ADDRESS = `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`
const PAYOUT = { amount: 2, currency: 'usdc', destination_id: 'pod_00000000000000000000000000' }

let relay: Relay
let tenantId: string
let secret: string
let send: Send
let templateId: string

const service = useService(async () => {
  const opened = await openRelayedDatabase({ poolSize: 10 })
  relay = opened.relay
  return { database: opened.database, env: { SVC_LICENSED_STATES: 'NY' } }
})
beforeAll(async () => {
  tenantId = await makeTenant(service)
  secret = (await makeKey(service, tenantId, { scope: 'admin' })).secret
  send = speak(service.urls.sandbox, { secret, version: current })
  templateId = await makeTemplate(send)
})

type KeyOptions = Parameters<typeof makeKey>[2]

/** Speaks with a new key, of a new tenant where a plan is given. */
async function speakAs(
  options: KeyOptions = {},
  plan?: 'trial' | 'standard' | 'enterprise',
  version: string = current,
) {
  const owner = plan === undefined ? tenantId : await makeTenant(service, plan)
  const key = await makeKey(service, owner, options)
  const by = speak(service.urls[options?.environment ?? 'sandbox'], { secret: key.secret, version })
  return { by, owner, key }
}

const asOwner = (text: string, values: readonly unknown[] = []) =>
  service.database.control.query({ text }, values)

const asJson = (raw: string): Call => ({
  raw,
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
})

const onTrial = async () => {
  const trial = await speakAs({ environment: 'live' }, 'trial')
  return { ...trial, order: { template_id: await makeTemplate(trial.by) } }
}

/** How each code comes about. */
const PRODUCED: Readonly<Record<string, () => Promise<Answer>>> = {
  missing_field: () =>
    send('/v1/passes', { body: { template_id: templateId }, headers: { 'Idempotency-Key': null } }),
  invalid_format: () => send('/v1/passes?created_after=yesterday'),
  out_of_range: () => send('/v1/passes?limit=101'),
  unknown_parameter: () => send('/v1/passes?page=2'),
  repeated_parameter: () => send('/v1/passes?limit=1&limit=1'),
  conflicting_parameters: async () => {
    await issuePass(send, templateId)
    await issuePass(send, templateId)
    const { next_cursor } = (await send('/v1/passes?limit=1')).body
    return send(`/v1/passes?starting_after=${next_cursor}&ending_before=${next_cursor}`)
  },
  invalid_cursor: () => send('/v1/passes?starting_after=made-up'),
  unknown_version: () => send('/v1/me', { headers: { 'Service-Version': '2024-01-01' } }),
  malformed_json: () => send('/v1/passes', asJson('{')),
  missing_api_key: () => send('/v1/me', { headers: { Authorization: null } }),
  invalid_api_key: () => send('/v1/me', { headers: { Authorization: 'Bearer nonsense' } }),
  revoked_api_key: async () => {
    const { by, key } = await speakAs()
    await revokeKey(service.operator, key.id)
    service.forget()
    return by('/v1/me')
  },
  invalid_token: () => send('/apple/v1/passes/pass.development.invalid/pass_00000000000000000000000000'),
  expired_token: async () => {
    const text = 'SELECT id FROM control.members WHERE tenant_id = $1'
    const { rows } = await service.database.control.query<{ id: string }>({ text }, [tenantId])
    const member = { tenantId, memberId: rows[0]!.id }
    const { secret } = await issueToken(service.database, member, 'sandbox', Date.now())
    return speak(service.urls.sandbox, { secret })('/v1/me')
  },
  environment_mismatch: () => speak(service.urls.live, { secret })('/v1/me'),
  trial_limit_reached: async () => {
    const { by, owner, order } = await onTrial()
    await asOwner('INSERT INTO live.trial_usage (tenant_id, passes) VALUES ($1, 500)', [owner])
    return by('/v1/passes', { body: order })
  },
  trial_expired: async () => {
    const { by, order } = await onTrial()
    service.clock.now = START + 31 * DAY
    return by('/v1/passes', { body: order })
  },
  insufficient_scope: async () =>
    (await speakAs({ scope: 'read' })).by('/v1/pass_templates', { body: TEMPLATE }),
  ip_not_allowed: async () => (await speakAs({ allowIps: ['10.0.0.0/8'] })).by('/v1/me'),
  developer_role_required: async () => {
    const { by, owner } = await speakAs({}, 'standard')
    await asOwner(`UPDATE control.members SET role = 'viewer' WHERE tenant_id = $1`, [owner])
    return by('/v1/me')
  },
  publishable_key_not_allowed: async () => (await speakAs({ kind: 'publishable' })).by('/v1/me'),
  plan_required: async () => (await speakAs({}, 'standard')).by('/v1/authorization_endpoint'),
  business_verification_required: async () => {
    const { by } = await speakAs({ environment: 'live' }, 'enterprise')
    return by('/v1/cards', { body: {} })
  },
  state_not_supported: async () => {
    const { by, owner } = await speakAs({ environment: 'live' }, 'enterprise')
    await verifyTenant(service.operator, owner)
    service.forget()
    const address = {
      line1: '1 Main Street',
      city: 'Austin',
      state: 'TX',
      postal_code: '73301',
      country: 'US',
    }
    return by('/v1/cardholders', { body: { name: 'Ada Moreau', billing_address: address } })
  },
  live_only: () => send('/v1/payouts', { body: { ...PAYOUT, currency: 'usd' } }),
  insufficient_balance: async () => {
    const body = { type: 'usdc_address', address: ADDRESS, holder_name: 'Harbour Coffee LLC' }
    const { id } = (await send('/v1/payout_destinations', { body })).body
    await makePayable(service.database, 'sandbox', tenantId, id, 1)
    return send('/v1/payouts', { body: { ...PAYOUT, destination_id: id } })
  },
  factor_required: () => send('/v1/account/rotate_credentials', { method: 'POST' }),
  not_found: () => send('/v1/passes/pass_00000000000000000000000000'),
  method_not_allowed: () => send('/v1/me', { method: 'DELETE' }),
  invalid_state: async () => {
    const path = `/v1/pass_templates/${await makeTemplate(send)}/archive`
    await send(path, { method: 'POST' })
    return send(path, { method: 'POST' })
  },
  idempotency_in_progress: async () => {
    const call = { body: { template_id: templateId }, headers: { 'Idempotency-Key': randomUUID() } }
    const { first, second } = await whileHeld(service, templateId, async () => {
      const running = send('/v1/passes', call)
      await someoneWaits(service)
      return { first: running, second: await send('/v1/passes', call) }
    })
    await first
    return second
  },
  idempotency_key_reused: async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    await send('/v1/pass_templates', { body: TEMPLATE, headers })
    return send('/v1/pass_templates', { body: { ...TEMPLATE, name: 'Tea' }, headers })
  },
  version_gone: () => {
    service.clock.now = Date.parse('2027-02-02T00:00:00Z')
    return send('/v1/me', { headers: { 'Service-Version': '2025-06-01' } })
  },
  body_too_large: () => send('/v1/passes', asJson(' '.repeat(1024 * 1024 + 1))),
  unsupported_media_type: () =>
    send('/v1/passes', { raw: '{}', method: 'POST', headers: { 'Content-Type': 'text/plain' } }),
  validation_failed: () => send('/v1/passes', { body: {} }),
  tenant_limit: async () => {
    let answer = await send('/v1/passes/count')
    for (let count = 0; count < 125 && answer.status === 200; count += 1)
      answer = await send('/v1/passes/count')
    return answer
  },
  internal_error: async () => {
    await asOwner('ALTER TABLE sandbox.pass_templates RENAME TO away')
    const answer = await send('/v1/pass_templates')
    await asOwner('ALTER TABLE sandbox.away RENAME TO pass_templates')
    return answer
  },
  unavailable: async () => {
    await relay.down()
    const answer = await send('/v1/passes')
    await relay.up()
    return answer
  },
}

/**
 * What is answered only between the description of an operation and its handler, and no operation is there at the moment.
 * test/api/http/pipeline.test.ts has one that is.
 */
const NOT_AT_PRESENT = ['not_implemented']

/** Status and type of each code that does not follow from its type alone. */
const TYPES: Readonly<Record<string, readonly number[]>> = {
  invalid_parameter: [400],
  authentication_error: [401],
  payment_required: [402],
  permission_error: [403],
  not_found: [404],
  method_not_allowed: [405],
  conflict: [409],
  idempotency_error: [409, 422],
  version_sunset: [410],
  body_too_large: [413],
  unsupported_media_type: [415],
  invalid_request: [422],
  rate_limited: [429],
  api_error: [500, 501],
  unavailable: [503],
}

/** Headers and members that come with some codes. */
const COMPANIONS: Readonly<
  Record<string, { readonly members?: readonly string[]; readonly headers?: readonly string[] }>
> = {
  missing_field: { members: ['param'] },
  unknown_version: { members: ['param'] },
  missing_api_key: { headers: ['WWW-Authenticate'] },
  invalid_token: { headers: ['WWW-Authenticate'] },
  expired_token: { headers: ['WWW-Authenticate'] },
  insufficient_scope: { members: ['required_scope'] },
  plan_required: { members: ['required_plan'] },
  factor_required: { members: ['challenge_url'] },
  version_gone: { members: ['successor_version', 'guide_url'] },
  method_not_allowed: { headers: ['Allow'] },
  idempotency_in_progress: { members: ['retry_after_ms'], headers: ['Retry-After'] },
  tenant_limit: { members: ['retry_after_ms'], headers: ['Retry-After'] },
  unavailable: { members: ['retry_after_ms'], headers: ['Retry-After'] },
  validation_failed: { members: ['details'] },
}

interface Documented {
  readonly components: { readonly schemas: { readonly ErrorCode: { readonly enum: readonly string[] } } }
}

const codesOf = new Map(
  versions.map(({ name }) => {
    const file = new URL(`../../../generated/${name}/openapi.json`, import.meta.url)
    const { components } = JSON.parse(readFileSync(file, 'utf8')) as Documented
    return [name, components.schemas.ErrorCode.enum]
  }),
)

/** Pages that say what a code means: the one of errors, and the overview of each version. */
const pages = new Map(
  ['errors', ...versions.map(({ name }) => name)].map((page) => [
    page,
    readFileSync(new URL(`../../../generated/site/${page}.html`, import.meta.url), 'utf8'),
  ]),
)

/** Whether the page of the address has what the address points to. */
function leadsSomewhere(address: string): boolean {
  const [, page = '', anchor = ''] =
    /^http:\/\/127\.0\.0\.1:4000\/docs\/([\w-]+)#([\w-]+)$/.exec(address) ?? []
  return pages.get(page)?.includes(`id="${anchor}"`) ?? false
}

test.each(Object.entries(PRODUCED))(
  'the service answers with the error code %s of the documents',
  async (code, produce) => {
    const { status, body, headers, text } = await produce()
    expect([status, body.error?.code]).toEqual([status, code])
    const { type, doc_url, request_id, message } = body.error
    expect(TYPES[type]).toContain(status)
    expect(message).toMatch(/\.$/)
    expect([request_id, leadsSomewhere(doc_url)]).toEqual([headers.get('Request-Id'), true])
    const { members = [], headers: names = [] } = COMPANIONS[code] ?? {}
    expect(members.filter((member) => body.error[member] === undefined)).toEqual([])
    expect(names.filter((name) => !headers.has(name))).toEqual([])
    // No stack, SQL or file name leaves.
    expect(text).not.toMatch(/\bat [\w.]+ \(|node_modules|\.ts\b|SELECT |relation "/)
  },
)

describe('the catalogue', () => {
  test('every code of the catalogue is produced here, but for what nothing can produce yet', () => {
    expect(codesOf.get(current)!.toSorted()).toEqual([...Object.keys(PRODUCED), ...NOT_AT_PRESENT].toSorted())
  })

  test('every code that is not answered at present belongs to an operation without a handler', () => {
    expect(Object.keys(NOT_WRITTEN_YET)).toEqual([])
  })

  test.each(versions)('each code of $name has its place on the page of $name', ({ name }) => {
    const missing = codesOf
      .get(name)!
      .filter((code) => !leadsSomewhere(`http://127.0.0.1:4000/docs/${name}#error-${code}`))
    expect(missing).toEqual([])
    const known = new Set(codesOf.get(current))
    expect(codesOf.get(name)!.filter((code) => !known.has(code))).toEqual([])
  })

  test.each(versions)('errors in $name lead to their codes on the page of errors', async ({ name }) => {
    const by = speak(service.urls.sandbox, { secret, version: name })
    for (const path of ['/v1/passes/pass_00000000000000000000000000', '/v1/passes?limit=0', '/v1/nothing']) {
      const { code, doc_url } = (await by(path)).body.error
      expect([doc_url, leadsSomewhere(doc_url)]).toEqual([`http://127.0.0.1:4000/docs/errors#${code}`, true])
    }
  })

  test('2025-06-01 has no trace of cards and settlement', () => {
    const later = [
      'plan_required',
      'business_verification_required',
      'state_not_supported',
      'live_only',
      'insufficient_balance',
    ]
    expect(codesOf.get('2025-06-01')!.filter((code) => later.includes(code))).toEqual([])
  })
})
