/** A tenant whose names, texts and answers are all markup that wants to run, and the addresses of every page that shows them. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { current, versions } from '../../../generated/versions.ts'
import { invite } from '../../../runtime/account/members/invitations.ts'
import { createUser } from '../../../runtime/account/members/users.ts'
import { createOauthClient } from '../../../runtime/account/oauth/clients.ts'
import type { DashboardRoute } from '../../../runtime/dashboard/engine/routes.ts'
import { listRoutes } from '../../../runtime/dashboard/pages/dashboard.ts'
import { findById } from '../../../runtime/dashboard/pages/search/places.ts'
import { createWorker } from '../../../runtime/events/delivery/worker.ts'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import { ENVIRONMENTS, type Environment } from '../../../runtime/platform/environment.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'
import { readPin } from '../../../runtime/tenants/admin/pins.ts'
import { make } from '../../cards/fixtures.ts'
import { makeOwners, type Owner } from '../../isolation/owners.ts'
import { issueToken } from '../../support/access-tokens.ts'
import { until } from '../../support/programs.ts'
import { type Send, speak } from '../../support/service.ts'
import type { TestDashboard, Visitor } from './dashboard.ts'

/** A link that runs something, and ends of an attribute and of an element with something after them that runs. */
export const RUNS = `javascript:alert(1)//"'><img src=x onerror=alert(1)><script>alert(1)</script>`

/** What everything is called that has a name. */
export const NAME = `${RUNS} name`

/** Of a member: without white space and short. */
const EMAIL = `"'><svg/onload=alert(1)>@example.com`

/** Each text that somebody of the tenant or a customer sets, and that stands on a page. */
export const TEXTS = {
  description: `${RUNS} description`,
  label: `${RUNS} label`,
  value: `${RUNS} value`,
  logo: `<img src=x onerror=alert(1)> logo`,
  design: `<svg onload=alert(1)> design`,
  street: `${RUNS} street`,
  explanation: `${RUNS} explanation`,
  document: `${RUNS} document`,
  note: `${RUNS} note`,
  scanner: `${RUNS} scanner`,
  merchant: `${RUNS} merchant`,
  city: `${RUNS} city`,
  answer: `</pre>${RUNS} answer`,
  path: `<img/src=x/onerror=alert(1)>path`,
  body: `</pre><img src=x onerror=alert(1)><script>alert(1)</script> body`,
  app: `${RUNS} app`,
  browser: `${RUNS} browser`,
  member: EMAIL,
  invited: `invited${EMAIL}`,
} as const

/** What stands for each parameter of an address, by the first part of the address below the environment. */
export type Addresses = Readonly<Record<Environment, ReadonlyMap<string, string>>>

export interface HostileTenant {
  readonly owner: Visitor
  /** The address of a page of the table of routes. @throws for one that has no identifiers here. */
  addressOf(route: Pick<DashboardRoute, 'path' | 'environment'>): string
  /** Those of every page of the table. */
  readonly pages: readonly string[]
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export async function makeHostileTenant(dashboard: TestDashboard): Promise<HostileTenant> {
  const { service } = dashboard
  const owners = await makeOwners(service, current, NAME)
  const { tenantId } = owners.sandbox
  const owner = await signInHostile(dashboard, tenantId)
  const addresses: Record<Environment, Map<string, string>> = { sandbox: new Map(), live: new Map() }
  for (const environment of ENVIRONMENTS) {
    const send = speak(service.urls[environment], { secret: owners[environment].secret })
    const ids = new Map(owners[environment].ids)
    for (const [prefix, id] of await setTexts(send, owners[environment])) ids.set(prefix, id)
    ids.set('wdla', await deliver(dashboard, owners[environment], ids.get('whe')!))
    ids.set('req', await logRequests(dashboard, owners[environment], send))
    ids.set('len', await findLedgerEntry(dashboard, owners[environment]))
    ids.set('mem', owner.memberId)
    ids.set('aud', (await send('/v1/audit_log?limit=1')).body.data[0].id)
    await connectApp(dashboard, owner, environment)
    const places = addresses[environment]
    for (const id of ids.values()) {
      const found = findById(id)
      if (found) places.set(found.path.split('/')[0]!, id)
    }
    places.set(':attempt', ids.get('wdla')!)
    const snapshot = ids.get('snap')
    if (snapshot !== undefined) places.set(':snapshot', snapshot)
    places.set(':version', versions[1]!.name)
  }
  const addressOf = addressesIn(addresses)
  const pages = listRoutes(dashboard.watching).filter(
    // Parts of the documentation are no pages of their own.
    ({ method, path }) => method === 'GET' && !/\/export\.\w+$|^\/docs\//.test(path),
  )
  return { owner, addressOf, pages: pages.map(addressOf) }
}

function addressesIn(addresses: Addresses): HostileTenant['addressOf'] {
  return ({ path, environment }) => {
    const known = addresses[environment]
    const first = path.split('/')[2]!
    return path.replaceAll(/:\w+/g, (parameter) => {
      const id = known.get(parameter === ':id' ? first : parameter)
      if (id === undefined)
        throw new Error(`${path}: nothing in test/dashboard/support/hostile.ts says what ${parameter} is`)
      return id
    })
  }
}

/** An owner with a hostile address, in a browser that calls itself so. */
async function signInHostile(dashboard: TestDashboard, tenantId: string): Promise<Visitor> {
  const { operator } = dashboard.service
  const owner = await dashboard.signIn(tenantId, 'owner')
  await createUser(operator, { tenantId, email: TEXTS.member, role: 'viewer' })
  const invitation = {
    tenantId,
    email: TEXTS.invited,
    role: 'viewer',
    memberId: owner.memberId,
    once: 'x',
  } as const
  await invite(operator, invitation)
  await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`, {
    headers: { 'User-Agent': TEXTS.browser },
  })
  return owner
}

/** What beside a name can be set. */
async function setTexts(send: Send, { environment, ids }: Owner): Promise<[prefix: string, id: string][]> {
  const brand = { background_color: '#1E3A5F', foreground_color: '#FFFFFF', logo_text: TEXTS.logo }
  const fields = [{ key: 'points', label: TEXTS.label, value: TEXTS.value }]
  const template = await make(send, '/v1/pass_templates', { name: NAME, kind: 'loyalty', brand, fields })
  const endpoint = await make(send, '/v1/webhook-endpoints', {
    url: `https://93.184.215.14/hooks?${encodeURI(RUNS)}`,
    enabled_events: ['*'],
    description: TEXTS.description,
  })
  const pass = await make(send, '/v1/passes', { template_id: template.id, holder: { name: NAME } })
  await make(send, '/v1/scans', { pass_id: pass.id, mode: 'verify', scanner: TEXTS.scanner })
  const billing_address = {
    line1: TEXTS.street,
    city: TEXTS.city,
    state: 'CA',
    postal_code: '94607',
    country: 'US',
  }
  const cardholder = await make(send, '/v1/cardholders', { name: NAME, billing_address })
  const design = { background_color: '#1e3a5f', foreground_color: '#ffffff', text: TEXTS.design }
  const program = await make(send, '/v1/card_programs', { name: NAME, kind: 'both', design })
  const made: [string, string][] = [
    ['tpl', template.id],
    ['pass', pass.id],
    ['whe', endpoint.id],
    ['chd', cardholder.id],
    ['cprg', program.id],
  ]
  const evidence = {
    explanation: TEXTS.explanation,
    files: [{ name: TEXTS.document, content_type: 'image/png', content: PNG }],
  }
  if (environment === 'sandbox') {
    const merchant = { name: TEXTS.merchant, category_code: '5812', city: TEXTS.city }
    const post = { card_id: ids.get('card'), amount: 1000, merchant }
    const transaction = await make(send, '/v1/test/cards/simulate_force_post', post)
    const dispute = { card_transaction_id: transaction.id, reason: 'other', evidence }
    made.push(['ctx', transaction.id], ['dsp', (await make(send, '/v1/disputes', dispute)).id])
    const settled = await send('/v1/settlements')
    made.push(['stl', settled.body.data[0].id])
  }
  const path = `/v1/sanctions_alerts/${ids.get('sal')}/resolve`
  await send(path, { body: { resolution: 'false_positive', note: TEXTS.note } })
  return made
}

/** Sends what has happened to an endpoint that answers with markup, in its body and its headers. */
async function deliver({ service }: TestDashboard, owner: Owner, endpointId: string): Promise<string> {
  const { database, clock } = service
  const { environment, tenantId } = owner
  const server = createServer((request, response) => {
    request.resume()
    const text = Buffer.from(RUNS).toString('latin1')
    response.writeHead(500, text, { 'Content-Type': 'text/html', 'X-Text': text }).end(TEXTS.answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  // No endpoint may be here by the API.
  const move = (from: string, to: string) =>
    database.control.query(
      {
        text: `UPDATE ${environment}.webhook_endpoints SET url = replace(url, $3, $4) WHERE tenant_id = $1 AND id = $2`,
      },
      [tenantId, endpointId, from, to],
    )
  const away = 'https://93.184.215.14/'
  const here = `http://127.0.0.1:${port}/`
  await move(away, here)
  const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
  const worker = createWorker({
    environment,
    pool: database[environment],
    control: database.control,
    clock,
    outbound,
    seals: createSeals(database.pepper),
    log: pino({ level: 'silent' }),
    readPin: (id) => readPin(database.control, id, environment),
    pollMs: 10,
    drainMs: 0,
  })
  const text = `SELECT id FROM ${environment}.webhook_attempts
                 WHERE tenant_id = $1 AND endpoint_id = $2 AND response_body IS NOT NULL LIMIT 1`
  const id = await until('an answer of the endpoint', async () => {
    const { rows } = await database.control.query<{ id: string }>({ text }, [tenantId, endpointId])
    return rows[0]?.id
  })
  await worker.stop()
  outbound.close()
  server.close()
  server.closeAllConnections()
  await move(here, away)
  return id
}

/** Requests in the log: an address that goes out as no browser would send it, and a body. @returns the latter's id. */
async function logRequests(
  { service }: TestDashboard,
  { environment, secret }: Owner,
  send: Send,
): Promise<string> {
  const asked = request(service.urls[environment], {
    path: `/v1/passes?x=${TEXTS.path}`,
    headers: { Authorization: `Bearer ${secret}`, 'User-Agent': RUNS },
  }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  const endpoint = {
    url: 'https://93.184.215.14/',
    enabled_events: ['pass.created'],
    description: TEXTS.body,
  }
  const { headers } = await send('/v1/webhook-endpoints', { body: endpoint })
  await service.flush()
  return headers.get('Request-Id')!
}

async function findLedgerEntry({ service }: TestDashboard, owner: Owner): Promise<string> {
  const text = `SELECT id FROM ${owner.environment}.ledger_entries WHERE tenant_id = $1 LIMIT 1`
  const { rows } = await service.database.control.query<{ id: string }>({ text }, [owner.tenantId])
  return rows[0]!.id
}

/** An application that may act for the account and get further tokens. */
async function connectApp(
  { service }: TestDashboard,
  owner: Visitor,
  environment: Environment,
): Promise<void> {
  const { database, operator } = service
  const client = await createOauthClient(operator, {
    name: TEXTS.app,
    environment,
    redirectUris: ['https://example.com/back'],
    scopes: ['read'],
    confidential: false,
  })
  const { id } = await issueToken(database, owner, environment)
  await database.control.query(
    {
      text: `WITH named AS (UPDATE control.oauth_grants SET client_id = $2 WHERE id = $1)
        INSERT INTO control.oauth_artefacts (digest, model, grant_id, sealed, expires_at)
        VALUES (sha256(convert_to($1, 'UTF8')), 'RefreshToken', $1, '', now() + interval '1 day')`,
    },
    [id, client.id],
  )
}
