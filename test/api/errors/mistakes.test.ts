/**
 * Typical mistakes, and what each version says of them: `mistakes.txt` is read by people. `UPDATE_GOLDEN=1` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { type Answer, type Call, makeKey, makeTenant, speak, useService } from '../../support/service.ts'
import { issuePass, makeTemplate, NO_PASS, TEMPLATE, VERSIONS } from '../fixtures.ts'

const GOLDEN = new URL('mistakes.txt', import.meta.url)

const service = useService()
let secret: string
/** Of two pages of passes, newest first. */
let cursor: string
let otherTenantsCursor: string

/** A tenant with passes on two pages, and where the second begins. */
async function makePasses(): Promise<{ secret: string; cursor: string }> {
  const { secret } = await makeKey(service, await makeTenant(service), { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret })
  const templateId = await makeTemplate(send)
  for (const _ of [1, 2]) await issuePass(send, templateId)
  const { body } = await send('/v1/passes?limit=1')
  return { secret, cursor: body.next_cursor }
}

beforeAll(async () => {
  const mine = await makePasses()
  ;({ secret, cursor } = mine)
  otherTenantsCursor = (await makePasses()).cursor
})

const post = (path: string, body: unknown): [string, Call] => [path, { body }]
const raw = (text: string): [string, Call] => [
  '/v1/pass_templates',
  { method: 'POST', raw: text, headers: { 'Content-Type': 'application/json' } },
]
const in_ = (version: string): [string, Call] => ['/v1/passes', { headers: { 'Service-Version': version } }]
const ENDPOINT = { url: 'https://example.com/hooks' }
const CARD = {
  cardholder_id: 'chd_00000000000000000000000000',
  card_program_id: 'cprg_00000000000000000000000000',
}

/** Cursors differ from run to run: they are put in when the request is sent. */
const mistakes: readonly (readonly [string, Call?])[] = [
  // paths
  ['/v1/passess'],
  ['/v1/pass-templates'],
  ['/v1/passTemplates/tpl_1'],
  ['/v1/webhooks'],
  ['/v1/webhook_endpoints'],
  [`/v1/passes/${NO_PASS}/revok`, { method: 'POST' }],
  ['/v1/cards'],
  ['/v1/settlements'],
  ['/v1/authorization_decisions'],
  ['/v1/authorization_decision'],
  ['/v1/sanctions_alerts'],
  ['/v1/customers'],
  ['/v1/me', { method: 'DELETE' }],
  // parameters
  ['/v1/passes?state=issued'],
  ['/v1/passes?stauts=issued'],
  ['/v1/passes?page=2'],
  ['/v1/passes?templateId=x'],
  ['/v1/passes?created[from]=2026-01-01'],
  ['/v1/passes?status=isued'],
  ['/v1/passes?order=descending'],
  ['/v1/passes?limit=1000'],
  ['/v1/me?expand=keys'],
  // cursors
  ['/v1/passes?starting_after=CURSOR&order=asc'],
  ['/v1/passes?starting_after=CURSOR&status=issued'],
  ['/v1/pass_templates?starting_after=CURSOR'],
  ['/v1/passes?starting_after=OTHERS'],
  ['/v1/passes?starting_after=pass_123'],
  // versions
  in_('2025-6-1'),
  in_('2026-05-20'),
  in_('v1'),
  // JSON
  raw('{"name": "x",}'),
  raw("{'name': 'x'}"),
  raw('{"name": "x"\n "kind": "loyalty"}'),
  raw('name=x'),
  // bodies
  post('/v1/pass_templates', { ...TEMPLATE, kind: 'loyality' }),
  post('/v1/pass_templates', { ...TEMPLATE, Brand: TEMPLATE.brand }),
  post('/v1/pass_templates', { ...TEMPLATE, barcodes: [] }),
  post('/v1/pass_templates', { ...TEMPLATE, barcode: { formt: 'qr' } }),
  post('/v1/pass_templates', { ...TEMPLATE, relevant_locations: [] }),
  post('/v1/passes', { template: 'tpl_00000000000000000000000000' }),
  post('/v1/passes', { templateId: 'tpl_00000000000000000000000000' }),
  post('/v1/webhook-endpoints', { ...ENDPOINT, events: ['*'] }),
  post('/v1/webhook-endpoints', { ...ENDPOINT, enabled_events: ['pass.instaled'] }),
  post('/v1/webhook-endpoints', { ...ENDPOINT, enabled_events: ['settlement.settled'] }),
  post('/v1/webhook-endpoints', { ...ENDPOINT, enabled_events: ['cardholder.sanctions.alert'] }),
  post('/v1/cards', { ...CARD, type: 'virtaul' }),
  post('/v1/cards', { ...CARD, type: 'virtual', spending_limit: [] }),
]

const send = (version: string) => speak(service.urls.sandbox, { secret, version })

function show({ status, body }: Answer): string {
  if (status < 400) return `${status}, no mistake here`
  const { code, message, details = [] } = body.error
  const rest = details
    .slice(1)
    .map(({ field, issue }: Record<string, string>) => `\n      ${field}: ${issue}`)
  return `${status} ${code}: ${message}${rest.join('')}`
}

test('each mistaken request is told what was probably meant', async () => {
  const lines: string[] = []
  for (const [path, call = {}] of mistakes) {
    const sent = path.replace('CURSOR', cursor).replace('OTHERS', otherTenantsCursor)
    const method = call.method ?? (call.body === undefined ? 'GET' : 'POST')
    const body = call.raw ?? (call.body === undefined ? '' : JSON.stringify(call.body))
    const named = (call.headers as Record<string, string> | undefined)?.['Service-Version']
    lines.push(
      `${method} ${path}${named === undefined ? '' : ` in ${named}`}${body === '' ? '' : ` ${body}`}`,
    )
    const asked = named === undefined ? [...VERSIONS] : [VERSIONS[0]]
    const answers = await Promise.all(asked.map(async (version) => show(await send(version)(sent, call))))
    const said = Map.groupBy(asked, (version) => answers[asked.indexOf(version)]!)
    for (const [answer, versions] of said) {
      lines.push(`  ${versions.length === VERSIONS.length ? '' : `${versions.join(', ')}\n  `}${answer}`)
    }
    lines.push('')
  }
  const text = lines.join('\n')
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, text)
  expect(text).toBe(readFileSync(GOLDEN, 'utf8'))
})

test('nothing is said of what another tenant has', async () => {
  const [theirs, nobodys] = await Promise.all(
    [otherTenantsCursor, 'AAAA'].map((each) => send('2026-05-19')(`/v1/passes?starting_after=${each}`)),
  )
  expect(theirs!.body.error.message).toBe(nobodys!.body.error.message)
})
