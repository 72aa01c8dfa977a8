/** Every example that a document shows of a request's body, sent to the service: nothing is wrong with any of them. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { type Ask, makeOwners, type Owner, openLine } from '../isolation/owners.ts'
import { useService } from '../support/service.ts'
import { type ShownRequest, shownRequests } from './examples.ts'

const service = useService({ guarded: false })
let owners: Readonly<Record<Environment, Owner>>
let lines: Readonly<Record<Environment, Ask>>
/** Of a promotion that was only planned. */
let planId: string
beforeAll(async () => {
  owners = await makeOwners(service, current)
  lines = { sandbox: openLine(service, 'sandbox'), live: openLine(service, 'live') }
  const design = { background_color: '#1E3A5F', foreground_color: '#FFFFFF' }
  const promotion = {
    resource_type: 'pass_template',
    sandbox_ids: [owners.sandbox.ids.get('tpl')],
    dry_run: true,
  }
  const dryRun = await send('POST', '/v1/promotions', current, promotion, 'live')
  planId = JSON.parse(dryRun.text).id
  await send('PATCH', `/v1/card_programs/${owners.sandbox.ids.get('cprg')}`, current, { design })
}, 60_000)

const send = (
  method: string,
  path: string,
  version: string,
  body: unknown,
  environment: Environment = 'sandbox',
) => {
  const { secret, sandboxSecret } = owners[environment]
  return lines[environment](secret, method, path, version, body, sandboxSecret)
}

type Body = Record<string, unknown>

/** Examples of parts that exclude something of the body they are put into, or need it otherwise. */
const FITTING: Readonly<Record<string, (body: Body) => Body>> = {
  'createScan pass_id': ({ barcode_message: _, ...body }) => body,
  'createCardholder token_id': ({ token_id, metadata }) => ({ token_id, ...(metadata ? { metadata } : {}) }),
  'createCard shipping': (body) => ({ ...body, type: 'physical' }),
  'advanceSettlementClock to': ({ to }) => ({ to, settlement_id: owners.sandbox.ids.get('stl') }),
  'advanceSettlementClock settlement_id': ({ settlement_id }) => ({ settlement_id }),
  // The service of the test has no entitlement of Apple.
  'createPassTemplate nfc': ({ nfc: _, ...body }) => body,
  'updatePassTemplate nfc': () => ({ nfc: null }),
  'updatePassTemplate rotating_barcode': (body) => ({ ...body, barcode: null }),
  'createWebhookEndpoint fifo_key': (body) => ({ ...body, delivery: 'fifo' }),
  'createPromotion plan_id': (body) => ({ ...body, plan_id: planId, dry_run: false }),
}

function fitting({ id }: ShownRequest, part: string, body: unknown): unknown {
  const name = part.split('.')[0]
  return FITTING[`${id} ${name}`]?.(body as Body) ?? body
}

/** Records of the test in place of those that examples name. A token works once, so each body has its own. */
async function placed(text: string, { ids }: Owner, version: string): Promise<string> {
  const token = text.includes('tok_') ? await makeToken(version) : undefined
  return text.replace(/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g, (id, prefix: string) =>
    prefix === 'tok' ? (token ?? id) : (ids.get(prefix) ?? id),
  )
}

async function makeToken(version: string): Promise<string> {
  const person = {
    name: 'Ada Moreau',
    date_of_birth: '1990-04-12',
    address: {
      line1: '500 Harbor Street',
      city: 'Oakland',
      state: 'CA',
      postal_code: '94607',
      country: 'US',
    },
  }
  const { text } = await send('POST', '/v1/tokens', version, { type: 'person', person })
  return JSON.parse(text).id
}

/** Certificates come from a wallet, for one device and a short time: no document can show them. */
const isFromDevice = (id: string, details: readonly { readonly field: string }[] = []) =>
  id === 'createProvisioningPayload' && details.every(({ field }) => field.startsWith('certificates'))

test.each(versions.map(({ name }) => name))(
  '%s shows no body that is refused as invalid',
  { timeout: 60_000 },
  async (version) => {
    const file = new URL(`../../generated/${version}/openapi.json`, import.meta.url)
    const wrong: string[] = []
    let sent = 0
    for (const request of shownRequests(JSON.parse(readFileSync(file, 'utf8')))) {
      const { id, method, environment = 'sandbox' } = request
      const path = await placed(request.path, owners[environment], version)
      for (const { part, body } of request.bodies) {
        const text = await placed(JSON.stringify(body), owners.sandbox, version)
        const named = fitting(request, part, JSON.parse(text))
        const answer = await send(method, path, version, named, environment)
        sent += 1
        const { error } = JSON.parse(answer.text || '{}')
        const isRefused = [400, 422].includes(answer.status) && !isFromDevice(id, error.details)
        if (isRefused || answer.status >= 500) wrong.push(`${id} ${part}: ${answer.status} ${answer.text}`)
      }
    }
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(60)
  },
)
