/** The curl of migration guides, run by a shell against the service: before in the older version, after in the newer one. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { openPromoter, PROGRAM } from '../account/promotions/setup.ts'
import { issuePass, makeTemplate } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { makeKey, makeTenant, type Send, useService } from '../support/service.ts'
import { guideOf, type Use, usesIn, VERSIONS } from './guides.ts'

const SANDBOX = 'http://127.0.0.1:4010'
const LIVE = 'http://127.0.0.1:4020'
const MERCHANT = { name: 'HARBOR DINER', category_code: '5812', city: 'Oakland', country: 'US' }

const uses = VERSIONS.slice(1).flatMap((to, index) => usesIn(guideOf(VERSIONS[index]!, to)))
const requests = uses.filter(({ curl }) => curl !== undefined && !curl.after.includes('$RECEIVER_URL'))
const deliveries = uses.filter(({ curl }) => curl?.after.includes('$RECEIVER_URL'))

type Side = 'before' | 'after'
/** What stands for the identifiers of the documents' examples, by prefix. */
type Records = Readonly<Record<string, (use: Use, side: Side) => string | Promise<string>>>

const service = useService()
let keys: Readonly<Record<string, string>>
let records: Records
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join('test/docs', '.guides-'))
  const tenantId = await makeTenant(service)
  await verifyTenant(service.operator, tenantId)
  const promoter = await openPromoter(service, tenantId, VERSIONS.at(-1))
  const live = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
  keys = { [SANDBOX]: promoter.sandboxKey.secret, [LIVE]: live.secret }
  records = await makeRecords(tenantId, promoter.sandbox, promoter.promote)
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true }))

async function makeRecords(
  tenantId: string,
  send: Send,
  promote: (body: object) => ReturnType<Send>,
): Promise<Records> {
  const card = await makeCard(send)
  const simulate = async (what: string, body: object): Promise<string> =>
    (await make(send, `/v1/test/cards/simulate_${what}`, { card_id: card.id, amount: 1000, ...body })).id
  const authorized = await simulate('authorization', { merchant: MERCHANT })
  const declined = await simulate('decline', { reason: 'decision_timed_out' })
  const blocked = await simulate('decline', { reason: 'merchant_blocked' })
  const spend = () => simulate('force_post', { merchant: MERCHANT })
  const disputed = { card_transaction_id: await spend(), reason: 'customer_complaint' }
  const dispute = await make(send, '/v1/disputes', disputed)
  const program = await make(send, '/v1/card_programs', PROGRAM)
  const settlement = (await send('/v1/settlements')).body.data[0]
  const template = await makeTemplate(send)
  const rotating_barcode = { period: 30, digits: 6, fallback: 'no_code' }
  const rotating = await issuePass(send, await makeTemplate(send, { rotating_barcode }))
  const fixed = openPassTokens(service.database.pepper).sandbox.scanCode({
    space: tenantId,
    passId: rotating.id,
  })
  const scan = await make(send, '/v1/scans', { barcode_message: fixed, mode: 'verify' })
  await issuePass(send, template)
  const archived = await issuePass(send, template)
  for (const step of ['revoke', 'archive'])
    await send(`/v1/passes/${archived.id}/${step}`, { method: 'POST' })
  const promoted = async (resource_type: string, id: string) =>
    (await promote({ resource_type, sandbox_ids: [id] })).body.id as string
  const ofTemplate = await promoted('pass_template', template)
  const ofProgram = await promoted('card_program', program.id)
  return {
    card: () => card.id,
    ctx: ({ name }) => {
      if (name.includes('Open a dispute')) return spend()
      if (name.includes('Explain declined uses')) return blocked
      return name.includes('declined') ? declined : authorized
    },
    dsp: () => dispute.id,
    scan: () => scan.id,
    cprg: () => program.id,
    stl: () => settlement.id,
    prm: (_use, side) => (side === 'before' ? ofTemplate : ofProgram),
  }
}

const run = promisify(execFile)

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: whatever the version answers
  readonly body: any
}

/** Types a command of a guide as its reader would, with records, keys and addresses of the test. */
async function type(command: string, use: Use, side: Side): Promise<Answer> {
  let typed = command
  for (const [id, prefix = ''] of typed.matchAll(/\b([a-z]+)_01[0-9a-z]{24}\b/g)) {
    const record = await records[prefix]?.(use, side)
    typed = typed.replaceAll(id, record ?? expect.fail(`${use.name} names ${id}, which nothing stands for`))
  }
  const origin = typed.includes(LIVE) ? LIVE : SANDBOX
  typed = typed.replace(origin, origin === LIVE ? service.urls.live : service.urls.sandbox)
  return perform(typed, { API_KEY: keys[origin]! })
}

async function perform(command: string, env: Readonly<Record<string, string>>): Promise<Answer> {
  const script = `curl() { command curl -sS --max-time 20 -w '\\n%{http_code}' "$@"; }\n${command}`
  const { stdout } = await run('sh', ['-ec', script], { env: { PATH: '/usr/bin:/bin', ...env } })
  const end = stdout.lastIndexOf('\n')
  const body = stdout.slice(0, end)
  return { status: Number(stdout.slice(end + 1)), body: body === '' ? undefined : JSON.parse(body) }
}

/** Holds an answer to the part of it that a guide shows: lists have such members, and an empty one is empty. */
// biome-ignore lint/suspicious/noExplicitAny: matchers of vitest are
function containing(shown: any): any {
  if (Array.isArray(shown)) return shown.length === 0 ? [] : expect.arrayContaining(shown.map(containing))
  if (typeof shown !== 'object' || shown === null) return shown
  return expect.objectContaining(
    Object.fromEntries(Object.entries(shown).map(([name, each]) => [name, containing(each)])),
  )
}

const named = (command: string, from: string, to: string) =>
  command.replace(`Service-Version: ${from}`, `Service-Version: ${to}`)

/** The code before with the header that every request of the newer version has, so that what is refused is the rest. */
function moved({ curl, from, to, name }: Use): string {
  const key = /\n {2}-H 'Idempotency-Key: .+/.exec(curl!.after)?.[0] ?? ''
  const keyed = curl!.before.includes('Idempotency-Key') || name.includes('Require idempotency key')
  return named(curl!.before, from, to).replace(/(Service-Version: .+)/, keyed ? '$1' : `$1${key}`)
}

describe.each(requests)('$name', (use) => {
  const { curl, answer, from, to, added, changes } = use
  const { before, after } = curl!
  let answers: Readonly<Record<Side, Answer>>
  beforeAll(async () => {
    answers = { before: await type(before, use, 'before'), after: await type(after, use, 'after') }
  })

  test('succeeds on both sides, and is answered as it says', () => {
    for (const side of ['before', 'after'] as const) {
      const { status, body } = answers[side]
      expect([side, status], JSON.stringify(body)).toEqual([side, expect.toBeOneOf([200, 201])])
      if (answer) expect(body).toEqual(containing(JSON.parse(answer[side])))
    }
  })

  const isRead = !before.includes('--json')
  if (isRead && !answer)
    test('a request of a guide finds the same on both sides, and something', () => {
      const found = ({ body }: Answer) => body.data?.map(({ id }: { id: string }) => id) ?? body
      expect(found(answers.after)).toEqual(found(answers.before))
      expect(found(answers.after)).not.toEqual([])
    })

  const differs = added ? answer === undefined : named(before, from, to) !== after
  if (changes.includes('request behavior'))
    test('means something else on the other side', async () => {
      const other = await type(moved(use), use, 'after')
      expect(other.status).toBe(200)
      expect(other.body).not.toEqual(answers.after.body)
    })
  else if (differs)
    test('a request of a guide is refused on the other side', async () => {
      const wrong = added ? named(after, to, from) : moved(use)
      const { status, body } = await type(wrong, use, 'after')
      expect([status, body]).toEqual([expect.toBeOneOf([400, 422]), { error: expect.anything() }])
    })
})

describe.each(deliveries)('$name', ({ curl, typescript, from, to }) => {
  const SECRET = 'whsec_of_the_test'

  /** The guide's own receiver, at an address. */
  async function receiver(code: string, version: string): Promise<{ url: string; close: () => void }> {
    const source = pathToFileURL(resolve(`generated/client/src/${version}/index.ts`)).href
    const file = join(folder, `receiver-${version}.ts`)
    writeFileSync(file, code.replace(`@dateline/passes/${version}`, source))
    const { receive } = (await import(/* @vite-ignore */ pathToFileURL(resolve(file)).href)) as {
      receive: (request: Request, secret: string) => Promise<Response>
    }
    const server = createServer(async (request, response) => {
      const body = await text(request)
      const headers = new Headers(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      )
      const given = new Request('http://receiver/', { method: 'POST', headers, body })
      const { status } = await receive(given, SECRET).catch(() => new Response(null, { status: 400 }))
      response.writeHead(status).end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() }
  }

  test('a delivery of a guide is taken by the receiver of its own version, and by no other', async () => {
    const old = await receiver(typescript!.before, from)
    const next = await receiver(typescript!.after, to)
    const deliver = async (command: string, url: string) =>
      (await perform(command, { RECEIVER_URL: url, WEBHOOK_SECRET: SECRET })).status
    expect([await deliver(curl!.before, old.url), await deliver(curl!.after, next.url)]).toEqual([204, 204])
    expect([await deliver(curl!.before, next.url), await deliver(curl!.after, old.url)]).toEqual([400, 400])
    old.close()
    next.close()
  })
})

test('every guide has code to follow', () => {
  expect(requests.length).toBeGreaterThan(12)
  expect(deliveries).toHaveLength(1)
})
