import { addRequests } from '../../runtime/api/request-log-queries.ts'
import { insertQuestion } from '../../runtime/cards/decisions/queries.ts'
import { newCardTransaction } from '../../runtime/cards/transactions/authorizing.ts'
import { withMessage } from '../../runtime/cards/transactions/messages.ts'
import { insertCardTransaction } from '../../runtime/cards/transactions/queries.ts'
import { ownMessage } from '../../runtime/cards/transactions/states.ts'
import { insertWalletToken } from '../../runtime/cards/wallet-tokens/queries.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { post } from '../../runtime/money/ledger/post.ts'
import { writeLines } from '../../runtime/money/settlement-lines/lines.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makePayable } from '../support/payable.ts'
import { planAll } from '../support/planning.ts'
import { makeKey, makeTenant, type TestService } from '../support/service.ts'
import { writtenLists } from './lists.ts'

/** Stands in everything that an owner makes: nobody else may ever see it. */
export const MARK = 'belongs-to-somebody-else'

/** What a tenant has in an environment: an id for each prefix, and a cursor for each list. */
export interface Owner {
  readonly tenantId: string
  readonly environment: Environment
  readonly secret: string
  /** A secret of the sandbox, for what live reads there. */
  readonly sandboxSecret: string
  readonly ids: ReadonlyMap<string, string>
  readonly cursors: ReadonlyMap<string, string>
}

/** Prefixes of objects that nothing can make yet. Shrinks as operations are built; what is made belongs into `makeOwner`. */
export const NOT_YET: readonly string[] = []

const MERCHANT = { category_code: '5812', network_id: null, country: 'US' } as const

export type Ask = (
  secret: string,
  method: string,
  target: string,
  version: string,
  body?: unknown,
  sandboxSecret?: string,
) => Promise<{ readonly status: number; readonly text: string }>

/** Speaks to one environment, without checking the answers. */
export function openLine(service: TestService, environment: Environment): Ask {
  return async (secret, method, target, version, body, sandboxSecret) => {
    service.clock.monotonic += 1000
    const headers = new Headers({ Authorization: `Bearer ${secret}`, 'Service-Version': version })
    if (method === 'POST') headers.set('Idempotency-Key', crypto.randomUUID())
    if (sandboxSecret) headers.set('Service-Sandbox-Authorization', `Bearer ${sandboxSecret}`)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    const response = await fetch(service.urls[environment] + target, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
}

/** A tenant with at least two of everything in both environments. @param mark what everything is called. */
export async function makeOwners(
  service: TestService,
  version: string,
  mark = MARK,
): Promise<Record<Environment, Owner>> {
  const tenantId = await makeTenant(service, 'enterprise')
  await verifyTenant(service.operator, tenantId)
  const sandbox = await makeOwner(service, tenantId, 'sandbox', version, mark)
  return { sandbox, live: await makeOwner(service, tenantId, 'live', version, mark, sandbox) }
}

/** A place of a tenant that is neither its default sandbox nor live. */
interface NamedPlace {
  readonly space: string
  readonly key: { readonly id: string; readonly secret: string }
}

/** At least two of everything in a named sandbox of an owner, whose first one is `s1`. */
export async function makeNamedOwner(
  service: TestService,
  { tenantId, secret }: Owner,
  version: string,
  mark = MARK,
): Promise<Owner> {
  const made = await openLine(service, 'sandbox')(secret, 'POST', '/v1/sandboxes', version, { name: mark })
  const { secret_key } = JSON.parse(made.text) as { secret_key: string }
  const text =
    'SELECT id, space FROM control.keys WHERE tenant_id = $1 ORDER BY created DESC, id DESC LIMIT 1'
  const { rows } = await service.database.control.query<{ id: string; space: string }>({ text }, [tenantId])
  const { id, space } = rows[0]!
  const place = { space, key: { id, secret: secret_key } }
  return makeOwner(service, tenantId, 'sandbox', version, mark, undefined, place)
}

/** Two sandboxes, and two snapshots of the second. */
async function makeSandboxes(make: (path: string, body: unknown) => Promise<string>, name: string) {
  await make('/v1/sandboxes', { name })
  const sbx = await make('/v1/sandboxes', { name })
  await make(`/v1/sandboxes/${sbx}/snapshots`, { name })
  const snap = await make(`/v1/sandboxes/${sbx}/snapshots`, { name })
  return [
    ['sbx', sbx],
    ['snap', snap],
  ] as const
}

/** A request whose bodies show whose it is. */
const loggedRequest = (created: number, key_id: string, mark: string) => ({
  created,
  method: 'GET',
  target: `/v1/${mark}`,
  path: `/v1/${mark}`,
  operation: null,
  version: '2026-05-19',
  status: '404',
  code: 'not_found',
  key_id,
  address: '127.0.0.1',
  ms: 1,
  request_body: mark,
  response_body: mark,
  trace_id: null,
})

const PERSON = {
  date_of_birth: '1990-04-12',
  address: { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' },
}

async function makeOwner(
  service: TestService,
  tenantId: string,
  environment: Environment,
  version: string,
  mark: string,
  sandbox?: Owner,
  named?: NamedPlace,
): Promise<Owner> {
  const key = named?.key ?? (await makeKey(service, tenantId, { environment, scope: 'admin' }))
  const space = named?.space ?? tenantId
  const sandboxSecret = sandbox?.secret ?? key.secret
  const ask = openLine(service, environment)
  const make = async (path: string, body: unknown): Promise<string> => {
    const { status, text } = await ask(key.secret, 'POST', path, version, body, sandboxSecret)
    if (status !== 201) throw new Error(`${path}: ${text}`)
    return (JSON.parse(text) as { id: string }).id
  }
  const metadata = { note: mark }
  const template = {
    name: mark,
    kind: 'loyalty',
    brand: { background_color: '#000000', foreground_color: '#FFFFFF' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
    metadata,
  }
  await make('/v1/pass_templates', template)
  const tpl = await make('/v1/pass_templates', template)
  await make('/v1/passes', { template_id: tpl, metadata })
  const pass = await make('/v1/passes', { template_id: tpl, holder: { name: mark }, metadata })
  await make('/v1/scans', { pass_id: pass, mode: 'verify', scanner: mark })
  const scan = await make('/v1/scans', { pass_id: pass, mode: 'redeem', scanner: mark })
  const text = { header: 'Notice', body: mark }
  await make(`/v1/passes/${pass}/messages`, text)
  const pmg = await make(`/v1/passes/${pass}/messages`, text)
  await make('/v1/pass_message_batches', { ...text, filter: {} })
  const pmb = await make('/v1/pass_message_batches', { ...text, filter: {} })
  await make('/v1/cardholders', { name: mark, metadata })
  const chd = await make('/v1/cardholders', { name: mark, metadata })
  // On the test list.
  for (let count = 0; count < 2; count += 1)
    await make('/v1/cardholders', { name: 'Dmitri Volkov', metadata })
  const tok = await make('/v1/tokens', { type: 'person', person: { ...PERSON, name: mark } })
  await make('/v1/card_programs', { name: mark, kind: 'both', metadata })
  const cprg = await make('/v1/card_programs', { name: mark, kind: 'both', metadata })
  const draft = { name: mark, spending_controls: { max_authorization_count: 1 }, metadata }
  await make('/v1/spending_control_drafts', draft)
  const scd = await make('/v1/spending_control_drafts', draft)
  await ask(key.secret, 'POST', `/v1/spending_control_drafts/${scd}/shadow`, version, {}, sandboxSecret)
  const order = { cardholder_id: chd, card_program_id: cprg, type: 'virtual', metadata }
  await make('/v1/cards', order)
  const card = await make('/v1/cards', order)
  // A merchant's doing, which no caller can cause in live.
  const use = {
    merchant: { ...MERCHANT, name: mark, city: mark },
    requested: 100,
    entry_method: null,
    wallet: null,
  }
  const posted = [0, 1].map(() => {
    const { now } = service.clock
    const blank = newCardTransaction({ id: card, cardholder_id: chd }, use, now)
    const message = ownMessage(blank, { kind: 'clearing', amount: use.requested, final: true }, now)
    return { ...withMessage(blank, message), metadata }
  })
  for (const row of posted) await insertCardTransaction(service.database[environment], space, row)
  const ctx = posted[1]!.id
  for (const daysAgo of [1, 0]) {
    await service.database[environment].transaction((db) =>
      writeLines(
        { db, space, events: { emit: () => undefined } },
        [{ type: 'adjustment', amount: 1, source_id: mark, ledger_entry_id: newId('len') }],
        service.clock.now - daysAgo * 86_400_000,
        undefined,
      ),
    )
  }
  for (const amount of [1, 2]) {
    const transfer = { from: 'bank', to: 'program_funds', amount } as const
    await service.database[environment].transaction((db) =>
      post(db, space, newId('len'), { transfer }, service.clock.now),
    )
  }
  const asked = [0, 1].map(() => ({
    id: newId('azd'),
    card_transaction_id: ctx,
    use: { ...use, card_id: card, currency: 'usd' },
    default_action: 'approve' as const,
    default_max_amount: null,
    created: service.clock.now,
    due: Number.MAX_SAFE_INTEGER / 1000,
  }))
  for (const row of asked) await insertQuestion(service.database[environment], space, row, null)
  const dispute = { card_transaction_id: ctx, amount: 10, reason: 'other', metadata }
  await make('/v1/disputes', dispute)
  const dsp = await make('/v1/disputes', dispute)
  const address = `${USDC_CHAINS[environment].id}:0x52908400098527886E0F7030069857D2E4169EE7`
  const destination = { type: 'usdc_address', address, holder_name: mark, metadata }
  await make('/v1/payout_destinations', destination)
  const pod = await make('/v1/payout_destinations', destination)
  const interval = { interval_start: '2026-01-01T00:00:00Z', interval_end: '2026-02-01T00:00:00Z' }
  await make('/v1/treasury_reports', { type: 'ledger_entries', ...interval })
  await make(`/v1/spending_control_drafts/${scd}/backtests`, interval)
  const scb = await make(`/v1/spending_control_drafts/${scd}/backtests`, interval)
  const trp = await make('/v1/treasury_reports', { type: 'ledger_entries', ...interval })
  const pay = { amount: 1, currency: 'usdc', destination_id: pod, metadata }
  await makePayable(service.database, environment, space, pod, 2)
  await make('/v1/payouts', pay)
  const po = await make('/v1/payouts', pay)
  const device = { client_device_id: mark, client_wallet_account_id: mark }
  const payloads = `/v1/cards/${card}/provisioning_payloads`
  await make(payloads, { wallet: 'google_pay', ...device })
  const ppl = await make(payloads, { wallet: 'google_pay', ...device })
  const times = { created: service.clock.now, updated: service.clock.now }
  const token = {
    card_id: card,
    provisioning_payload_id: ppl,
    wallet: 'google_pay',
    status: 'active',
  } as const
  const [wtk, other] = [newId('wtk'), newId('wtk')]
  for (const id of [wtk, other]) {
    await insertWalletToken(service.database[environment], space, { id, ...token, ...times })
  }
  const [req, earlier] = [newId('req'), newId('req')]
  await addRequests(
    service.database[environment],
    [earlier, req].map((id) => ({ ...loggedRequest(service.clock.now, key.id, mark), space, id })),
    service.clock.now,
  )
  const endpoint = { url: 'https://93.184.215.14/hooks', enabled_events: ['*'], metadata }
  await make('/v1/webhook-endpoints', endpoint)
  const whe = await make('/v1/webhook-endpoints', endpoint)
  const whr = await make(`/v1/webhook-endpoints/${whe}/recover`, { since: interval.interval_start })
  await make('/v1/passes', { template_id: tpl, metadata })
  const promoted = sandbox && { resource_type: 'pass_template', sandbox_ids: [sandbox.ids.get('tpl')] }
  if (promoted) await make('/v1/promotions', promoted)
  const prm = promoted && (await make('/v1/promotions', promoted))
  await planAll(service.database[environment])
  const first = async (path: string): Promise<string> => {
    const { text } = await ask(key.secret, 'GET', path, version)
    return (JSON.parse(text) as { data: [{ id: string }] }).data[0].id
  }
  // Before the sandboxes, because older versions do not get events about them.
  const evt = await first('/v1/events')
  const sandboxes = environment === 'sandbox' && !named ? await makeSandboxes(make, mark) : []
  const cursors = new Map<string, string>()
  for (const path of writtenLists(environment)) {
    const { text } = await ask(key.secret, 'GET', `${path}?limit=1`, version)
    const { next_cursor } = JSON.parse(text) as { next_cursor: string | null }
    if (next_cursor !== null) cursors.set(path, next_cursor)
  }
  return {
    tenantId,
    environment,
    secret: key.secret,
    sandboxSecret,
    ids: new Map([
      ['tpl', tpl],
      ['pass', pass],
      ['scan', scan],
      ['pmg', pmg],
      ['pmb', pmb],
      ['chd', chd],
      ['sal', await first('/v1/sanctions_alerts')],
      ['tok', tok],
      ['cprg', cprg],
      ['scd', scd],
      ['scb', scb],
      ['card', card],
      ['ctx', ctx],
      ['dsp', dsp],
      ['pod', pod],
      ['po', po],
      ['trp', trp],
      ['stl', await first('/v1/settlements')],
      ['azd', asked[1]!.id],
      ['ppl', ppl],
      ['wtk', wtk],
      ['whe', whe],
      ['whr', whr],
      ['wdla', await first(`/v1/webhook-endpoints/${whe}/delivery-attempts`)],
      ['evt', evt],
      ['key', key.id],
      ['req', req],
      ...(prm ? ([['prm', prm]] as const) : []),
      ...sandboxes,
    ]),
    cursors,
  }
}
