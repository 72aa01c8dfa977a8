/**
 * Each objective, and what an operator fears most, is broken once on real processes. A real Prometheus with the rules
 * of `deploy/prometheus` sees it. All durations of the rules are divided by 30.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { make } from '../../cards/fixtures.ts'
import { KEY, type Network, startNetwork } from '../../money/chain/network.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makePayable } from '../../support/payable.ts'
import { endPrograms, type Program, startProgram, startService, until } from '../../support/programs.ts'
import { openRelay, type Relay } from '../../support/relay.ts'
import { type Send, speak } from '../../support/service.ts'
import { startPrometheus, type TestPrometheus } from './prometheus.ts'

const DIVISOR = 30

const ENDPOINTS = 10
const BANK_TOKEN = 'token of the bank in this proof'

const folder = mkdtempSync(join(tmpdir(), 'svc-alerts-'))
let database: TestDatabase
let relay: Relay
let chain: Network
let receiver: Server
let bank: Server
let prometheus: TestPrometheus
let sandbox: Send
let live: Send
let tenantId: string
let env: Record<string, string>
const programs: Record<string, Program> = {}
const targets: Record<string, string> = {}
let cardNetworkUrl: string
/** What the receiver of webhooks answers, and when. */
const answer = { status: 200, afterMs: 0 }

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function start(name: string, words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const program = startService({ ...env, ...more, METRICS_PORT: '0' }, ['--json', ...words])
  const line = await program.ready()
  programs[name] = program
  targets[name] = String(line.metrics_url)
  prometheus.watch(targets)
  return line
}

const keepsGoing = new AbortController()
/** Repeats a request until the end of the proof. Answers do not matter: alerts are about them. */
function repeat(pauseMs: number, work: () => Promise<unknown>): Promise<void> {
  const run = async () => {
    while (!keepsGoing.signal.aborted) {
      await work().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return run()
}
const load: Promise<void>[] = []

let templateId: string
const passOf = () => ({ template_id: templateId, holder: { email: 'ada@example.com' } })

/** Makes a certificate of the network listener that expires in a day. */
function makeExpiring(): Record<string, string> {
  const [cert, key] = [join(folder, 'day.crt'), join(folder, 'day.key')]
  const words = 'req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -days 1'.split(' ')
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  return { NETWORK_TLS_CERT: cert, NETWORK_TLS_KEY: key }
}

beforeAll(async () => {
  database = await openTestDatabase()
  relay = await openRelay(database.url)
  chain = await startNetwork()
  receiver = await listen((_request, response) => {
    setTimeout(() => response.writeHead(answer.status).end(), answer.afterMs)
  })
  bank = await listen((_request, response) => void response.writeHead(503).end())
  prometheus = await startPrometheus(join(folder, 'prometheus'), DIVISOR)
  env = {
    DATABASE_URL: relay.url,
    SVC_PEPPER: database.pepper,
    DATA_DIR: join(folder, 'data'),
    SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
    SVC_CHAIN_RPC_URL: chain.anvil.url,
    SVC_USDC_ADDRESS: chain.token,
    SVC_PAYOUT_KEY: KEY,
    SVC_BANK_URL: urlOf(bank),
    SVC_BANK_TOKEN: BANK_TOKEN,
  }
  const line = await start('api', ['--role', 'api', '--role', 'console', '--demo'])
  await start('worker', ['--role', 'worker'], { SVC_VERIFY_SECONDS: '2' })
  cardNetworkUrl = String((await start('network', ['--role', 'network'], { NETWORK_PORT: '0' })).network_url)
  const keys = line.keys as Record<'sandbox_secret' | 'live_secret', string>
  sandbox = speak(String(line.sandbox_base_url), { secret: keys.sandbox_secret })
  live = speak(String(line.live_base_url), { secret: keys.live_secret })
  tenantId = String(line.tenant_id)
  for (let count = 0; count < ENDPOINTS; count += 1)
    await make(sandbox, '/v1/webhook-endpoints', { url: urlOf(receiver), enabled_events: ['*'] })
  const template = {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [],
  }
  templateId = (await make(sandbox, '/v1/pass_templates', template)).id
  load.push(
    repeat(50, () => sandbox('/v1/pass_templates?limit=1')),
    // Few, so that a late backlog is most of the attempts of the last minutes.
    repeat(3000, () => sandbox('/v1/passes', { body: passOf() })),
  )
})
afterAll(async () => {
  keepsGoing.abort()
  await Promise.all(load)
  await endPrograms()
  receiver.closeAllConnections()
  receiver.close()
  bank.closeAllConnections()
  bank.close()
  await chain.stop()
  await relay.down()
  await database.close()
  rmSync(folder, { recursive: true })
})

/** The machine may be busy with other work. */
const PATIENCE_MS = 120_000
const fires = (...alerts: readonly string[]) =>
  until(`alerts ${alerts.join(', ')}`, () => hasAll(alerts), PATIENCE_MS)
const hasAll = async (alerts: readonly string[]) => {
  const firing = await prometheus.firing()
  return alerts.every((name) => firing.has(name))
}
const ends = (...alerts: readonly string[]) =>
  until(
    `the end of alerts ${alerts.join(', ')}`,
    async () => {
      const firing = await prometheus.firing()
      return !alerts.some((name) => firing.has(name))
    },
    PATIENCE_MS,
  )

test('nothing fires while the service works', async () => {
  // A busy machine may be slower than the objective.
  const isQuiet = async () => [...(await prometheus.firing())].every((name) => name.startsWith('Latency'))
  await until('a quiet service', isQuiet, PATIENCE_MS)
})

test('slow statements spend the budget of latency', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await ends('LatencyBurnsFast')
  let isSlow = true
  const lock = async () => {
    while (isSlow)
      await client.query(
        'BEGIN; LOCK sandbox.pass_templates IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(0.8); COMMIT',
      )
    await client.end()
  }
  const locking = lock()
  await fires('LatencyBurnsFast', 'LatencyBurnsSlow')
  isSlow = false
  await locking
  await ends('LatencyBurnsFast')
})

test('a database that is away spends the budget of availability, and no process is ready', async () => {
  await relay.down()
  await fires('AvailabilityBurnsFast', 'AvailabilityBurnsSlow', 'NotReady')
  await relay.up()
  await ends('AvailabilityBurnsFast', 'NotReady')
})

test('card messages without an answer in time spend their budget', async () => {
  const words =
    'runtime/operator/command/network.ts --dev --seed 7 --count 2000 --rate 20 --json --url'.split(' ')
  const cards = startProgram(process.execPath, [...words, cardNetworkUrl], env)
  const isSending = () => {
    if (cards.child.exitCode !== null) throw new Error(cards.stderr())
    return cards.stdout().includes('"outcome":"approved"}')
  }
  await until('card messages', isSending, PATIENCE_MS)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('BEGIN; LOCK sandbox.card_transactions IN ACCESS EXCLUSIVE MODE')
    await fires('CardMessagesBurnsFast', 'CardMessagesBurnsSlow')
  } finally {
    await cards.end('SIGKILL')
    await client.end()
  }
})

test('a receiver that fails is seen', async () => {
  answer.status = 500
  await fires('WebhooksFail')
  answer.status = 200
  await ends('WebhooksFail')
})

test('a stopped worker is down, and its backlog is late', async () => {
  const { child } = programs.worker!
  // The backlog lasts for several scrapes, so that Prometheus sees rates.
  answer.afterMs = 1000
  child.kill('SIGSTOP')
  try {
    for (let count = 0; count < 3; count += 1) {
      const passes = Array.from({ length: 100 }, passOf)
      expect((await sandbox('/v1/passes/batch', { body: { passes } })).status).toBe(200)
    }
    const madeAt = performance.now()
    await fires('ServiceDown', 'WebhooksStopped')
    await until('a backlog that is later than the objective', () => performance.now() - madeAt > 10_000)
  } finally {
    child.kill('SIGCONT')
  }
  await fires('WebhookDelayBurnsFast', 'WebhookDelayBurnsSlow')
  answer.afterMs = 0
  await ends('ServiceDown', 'WebhooksStopped')
})

test('a payout waits for a chain that was killed', async () => {
  const address = { type: 'usdc_address', address: 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7' }
  const { id } = await make(sandbox, '/v1/payout_destinations', {
    ...address,
    holder_name: 'Harbour Coffee LLC',
  })
  await makePayable(database, 'sandbox', tenantId, id, 10_000)
  await chain.anvil.stop()
  await make(sandbox, '/v1/payouts', { amount: 1000, currency: 'usdc', destination_id: id })
  await fires('ChainPayoutsLate')
})

test('a payout waits for a bank that fails', async () => {
  const holder_name = 'Harbour Coffee LLC'
  const numbers = { account_number: '000123456789', routing_number: '110000000' }
  const token = await make(live, '/v1/tokens', {
    type: 'bank_account',
    bank_account: { holder_name, ...numbers, country: 'US' },
  })
  const account = { type: 'bank_account', token_id: token.id, holder_name }
  const { id } = await make(live, '/v1/payout_destinations', account)
  await makePayable(database, 'live', tenantId, id, 10_000)
  await make(live, '/v1/payouts', { amount: 1000, currency: 'usd', destination_id: id })
  await fires('BankPayoutsLate')
})

test('a changed ledger row is found', async () => {
  const text = `UPDATE live.ledger_accounts SET balance = balance + 1 WHERE tenant_id = $1 AND id = 'payout_in_transit'`
  expect((await database.control.query({ text }, [tenantId])).count).toBe(1)
  await fires('LedgerOrAuditLogBroken')
  expect(programs.worker!.stderr()).toContain('Verification found a fault')
})

test('a certificate that expires is seen', async () => {
  await programs.network!.end()
  await start('network', ['--role', 'network'], { ...makeExpiring(), NETWORK_PORT: '0' })
  await fires('CertificateExpiresSoon', 'CertificateExpiresNow')
})
