/** `svc` against the service itself: what it causes, what it shows, and what arrives. */
import { TOTP } from 'otpauth'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { unwrap as unwrapOld } from '../../generated/client/src/2025-06-01/index.ts'
import { unwrap, type WebhookEvent } from '../../generated/client/src/2026-05-19/index.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { snapshotWorker } from '../../runtime/account/snapshots/job.ts'
import { payloadWorker } from '../../runtime/cards/provisioning/stand-in-job.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { deriveSecret } from '../../runtime/cli/svc-listen.ts'
import { runSvc } from '../../runtime/cli/svc-run.ts'
import { RECIPES } from '../../runtime/cli/trigger-recipes.ts'
import { type Delivery, openDelivery } from '../../runtime/events/delivery/open-delivery.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { balanceAlertWorker } from '../../runtime/money/balance/alert-job.ts'
import { openTransferListener } from '../../runtime/money/payouts/transfer-listener.ts'
import { reportWorker } from '../../runtime/money/reports/job.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { type PeriodicJob, runPeriodically } from '../../runtime/platform/periodic.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { type Ending, endPrograms, type Program, startProgram, until } from '../support/programs.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { serveEndpoint } from './stream-server.ts'

const service = useService({ env: { SVC_WEBHOOK_ALLOW: '127.0.0.0/8' } })
let jobs: readonly PeriodicJob[]
let delivery: Delivery
const failures: unknown[] = []
beforeAll(async () => {
  const parts = { ...service, log: strictLog, wakeUpChannel: { publish: service.wakeUps.notify } }
  const phones = payloadWorker(parts)
  const reports = reportWorker({ ...parts, links: openReportLinks(service.database.pepper, service.urls) })
  const alerts = balanceAlertWorker(parts)
  const backtests = backtestWorker(parts)
  const endpointSecrets = createEndpointSecrets(createSeals(service.database.pepper), 'sandbox')
  const snapshots = snapshotWorker({ ...parts, endpointSecrets })
  for (const worker of [phones, reports, alerts, backtests, snapshots]) worker.start()
  delivery = openDelivery(parts)
  jobs = [
    phones,
    reports,
    alerts,
    backtests,
    snapshots,
    runPeriodically(payEverybody, { pauseMs: 500, failed: (error) => failures.push(error) }),
  ]
})
afterAll(async () => {
  for (const job of jobs) await job.stop()
  await delivery.stop()
  expect(failures).toEqual([])
})
afterEach(endPrograms)

/** Payouts that were there at the last look. */
let seen: readonly string[] = []

/** Takes the place of the chain: what is still to be paid at a second look is. */
async function payEverybody(): Promise<void> {
  const { sandbox } = service.database
  const text = `SELECT tenant_id, id FROM payouts WHERE status = 'pending'`
  const { rows } = await sandbox.query<{ tenant_id: string; id: string }>({ text })
  const due = rows.filter(({ id }) => seen.includes(id))
  seen = rows.map(({ id }) => id)
  for (const { tenant_id: space, id } of due) {
    const parts = { ...service, wakeUpChannel: { publish: service.wakeUps.notify } }
    const listener = await openTransferListener(parts, 'sandbox', space)
    const sent = { chain: 'eip155:31337', hash: `0x${'9f'.repeat(32)}` }
    await sandbox.transaction(async (db) => {
      await listener.changed(db, id, { state: 'in_transit', ...sent }, Date.now())
      await listener.changed(db, id, { state: 'paid', ...sent, confirmations: 12 }, Date.now())
    })
    listener.committed()
  }
}

interface Merchant {
  readonly secret: string
  readonly send: ReturnType<typeof speak>
  readonly live: ReturnType<typeof speak>
  start(...words: readonly string[]): Program
  run(...words: readonly string[]): Promise<Ending>
  /** As `run`, but in this process: for what is asked many times. */
  perform(...words: readonly string[]): Promise<Pick<Ending, 'code' | 'stdout' | 'stderr'>>
}

async function makeMerchant(version?: string): Promise<Merchant> {
  const tenant = await makeTenant(service, 'enterprise', version)
  /** A code is good once, and the next comes in half a minute. */
  const codeOfMember = async () => {
    await service.database.control.query({ text: 'DELETE FROM control.totp_uses' })
    const email = `${newId('mem')}@example.com`
    const { totp_secret } = await createUser(service.operator, { tenantId: tenant, email, role: 'owner' })
    return new TOTP({ secret: totp_secret }).generate()
  }
  const { secret } = await makeKey(service, tenant, { scope: 'admin' })
  const live = await makeKey(service, tenant, { environment: 'live', scope: 'admin' })
  const env = {
    SVC_API_KEY: secret,
    SVC_BASE_URL: service.urls.sandbox,
    SVC_LIVE_API_KEY: live.secret,
    SVC_LIVE_BASE_URL: service.urls.live,
  }
  const start = (...words: readonly string[]) =>
    startProgram(process.execPath, ['runtime/cli/svc.ts', ...words], env)
  return {
    secret,
    send: speak(service.urls.sandbox, { secret }),
    live: speak(service.urls.live, { secret: live.secret }),
    start,
    run: (...words) => start(...words).ended,
    async perform(...words) {
      for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
      let stdout = ''
      let stderr = ''
      const code = await runSvc(words, {
        print(text) {
          stdout += `${text}\n`
        },
        say(line) {
          stderr += `${line}\n`
        },
        ask: codeOfMember,
        interruption: () => new AbortController().signal,
      })
      vi.unstubAllEnvs()
      return { code, stdout, stderr }
    },
  }
}

const readLines = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('every recipe makes its event happen, about what it says it made', { timeout: 180_000 }, async () => {
  const { perform, send, live } = await makeMerchant()
  await send('/v1/webhook-endpoints', {
    body: { url: 'http://127.0.0.1:9000/', enabled_events: ['pass.expired'] },
  })
  for (const type of Object.keys(RECIPES)) {
    const triggered = await perform('trigger', type, '--json')
    expect(triggered, type).toMatchObject({ code: 0, stderr: '' })
    const made: Record<string, string> = JSON.parse(triggered.stdout)
    expect(made.triggered).toBe(type)
    const ask = type === 'promotion.created' ? live : send
    const [event] = (await ask(`/v1/events?limit=1&type=${type}`)).body.data
    expect(event.type).toBe(type)
    const [object] = Object.values<{ id?: string; live_id?: string }>(event.data)
    // The balance alert of an account has no ID.
    const id = object?.id ?? object?.live_id
    expect([type, id === undefined ? type === 'balance.low' : Object.values(made).includes(id)]).toEqual([
      type,
      true,
    ])
  }
})

test('which endpoint to test is asked where there are several, and said where there is none', async () => {
  const { run, send } = await makeMerchant()
  const none = await run('trigger', 'webhook_endpoint.test')
  expect(none).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no webhook endpoint: create one'),
  })
  const made = []
  for (const port of [9001, 9002]) {
    const body = { url: `http://127.0.0.1:${port}/`, enabled_events: ['*'] }
    made.push((await send('/v1/webhook-endpoints', { body })).body.id)
  }
  const several = await run('trigger', 'webhook_endpoint.test')
  expect(several.code).toBe(2)
  for (const id of made) expect(several.stderr).toContain(id)
  const one = await run('trigger', 'webhook_endpoint.test', '--endpoint', made[0])
  expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining(made[0]) })
})

test('events are shown as a table, as lines of JSON, and one as a whole', async () => {
  const { run, send } = await makeMerchant()
  expect(await run('events')).toMatchObject({ code: 0, stdout: '', stderr: 'No events found.\n' })
  const { pass_id } = JSON.parse((await run('trigger', 'pass.revoked', '--json')).stdout)

  const { data } = (await send('/v1/events')).body
  const ids = data.map(({ id }: { id: string }) => id)
  const table = (await run('events')).stdout.trimEnd().split('\n')
  expect(table[0]).toMatch(/^CREATED +TYPE +ID +OBJECT$/)
  expect(table.slice(1).map((line) => line.split(/ +/))).toEqual([
    [expect.any(String), 'pass.revoked', ids[0], pass_id],
    [expect.any(String), 'pass.created', ids[1], pass_id],
    [expect.any(String), 'pass_template.created', ids[2], expect.stringMatching(/^tpl_/)],
  ])
  expect(readLines((await run('events', '--json')).stdout)).toEqual(data)
  expect(readLines((await run('events', '--json', '--limit', '2')).stdout)).toEqual(data.slice(0, 2))
  expect(readLines((await run('events', '--json', '--type', 'pass.created')).stdout)).toEqual([data[1]])

  const whole = (await run('events', ids[1])).stdout
  expect(JSON.parse(whole)).toEqual(data[1])
  expect(whole.split('\n').length).toBeGreaterThan(20)
  expect(readLines((await run('events', ids[1], '--json')).stdout)).toEqual([data[1]])
  const missing = await run('events', `evt_${'0'.repeat(26)}`)
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('returned 404') })
})

test.each([
  ['2026-05-19', unwrap],
  ['2025-06-01', unwrapOld],
])(
  'an event that is triggered in %s is forwarded, signed, and the client unwraps it',
  async (version, open) => {
    const merchant = await makeMerchant(version)
    const opened: WebhookEvent[] = []
    const failures: unknown[] = []
    const endpoint = await serveEndpoint((n, response) => {
      const { body, headers } = endpoint.delivered[n - 1]!
      open(body, headers, deriveSecret(merchant.secret))
        .then(
          (event) => opened.push(event as WebhookEvent),
          (error) => failures.push(error),
        )
        .finally(() => response.writeHead(200).end())
    })
    const listening = merchant.start('listen', '--forward-to', endpoint.url, '--json')
    await until('the connection', () => listening.stderr().includes('Connected'))

    const pass = await merchant.send('/v1/pass_templates', {
      body: {
        name: 'Tea club',
        kind: 'loyalty',
        brand: { background_color: '#112233', foreground_color: '#ffffff' },
      },
    })
    await endpoint.ids(1)
    const triggered = JSON.parse((await merchant.run('trigger', 'pass.updated', '--json')).stdout)
    await endpoint.ids(4)
    await until('four opened', () => opened.length + failures.length === 4)
    expect(failures).toEqual([])
    expect(opened.map(({ type }) => type)).toEqual([
      'pass_template.created',
      'pass_template.created',
      'pass.created',
      'pass.updated',
    ])
    expect(opened.every((event) => event.version === version)).toBe(true)
    expect(opened[0]).toMatchObject({ data: { pass_template: { id: pass.body.id } } })
    const updated = opened[3]!
    if (updated.type === 'pass.updated') expect(updated.data.pass.id).toBe(triggered.pass_id)
    await until('four lines', () => listening.stdout().split('\n').length === 5)
    const { code, stdout } = await listening.end('SIGINT')
    expect(code).toBe(0)
    expect(readLines(stdout).map(({ id, status }) => [id, status])).toEqual(opened.map(({ id }) => [id, 200]))

    // It goes on where it is told to, here behind the second one.
    const again = merchant.start('listen', '--forward-to', endpoint.url, '--since', opened[1]!.id)
    const ids = await endpoint.ids(6)
    expect(ids.slice(4)).toEqual(ids.slice(2, 4))
    expect((await again.end('SIGTERM')).code).toBe(0)
  },
)

test('a stream that the service refuses to resume is lost', async () => {
  const { start } = await makeMerchant()
  const unknown = `evt_${'1'.repeat(26)}`
  const { code, stderr } = await start('listen', '--forward-to', 'http://127.0.0.1:9/', '--since', unknown)
    .ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error: the API returned 400: .*Last-Event-ID/m)
})
