/**
 * `npm run prove:restore`: a drill of backup and restore. Each round creates passes and payouts and delivers webhooks, takes a
 * base backup meanwhile, kills the service and its database, restores into a new data directory, and reconciles it with the
 * chain. Then the audit log and the ledger are intact, the chain has paid each payout once and the database knows all of them,
 * every change before the restored time exists, and every event of the database was delivered, with the same body each time.
 *
 * The rounds take turns: to a random earlier time; to the end, with the archive only (the disk is lost); to the end, with
 * `pg_wal` of the lost server. RPO is the time between the last restored change and the kill. RTO is the time from the start of
 * the restore until the service answers.
 *
 * Options: --rounds N (30), --seconds N (4): duration of the load after the backup.
 */
import { createHash, randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { current } from '../../generated/versions.ts'
import { findCluster } from '../../runtime/database/embedded/cluster.ts'
import { findPostmaster } from '../../runtime/database/embedded/postmaster.ts'
import { connectionTo } from '../../runtime/database/embedded/server.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { UNITS_PER_CENT } from '../../runtime/money/chain/token.ts'
import { post } from '../../runtime/money/ledger/post.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { KEY, someAddress, startNetwork } from '../money/chain/network.ts'
import { endPrograms, isAlive, type Program, runAdmin, startService, until } from '../support/programs.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '30' }, seconds: { type: 'string', default: '4' } },
})
const rounds = Number(values.rounds)
const loadMs = Number(values.seconds) * 1000

/** Cents. More than all rounds pay. */
const PAYABLE = 1_000_000_000
const PAYEE = someAddress(77)
const WAIT_MS = 300_000

const MODES = ['an earlier time', 'the end of the archive', 'the end of pg_wal'] as const

/** A change that the service has acknowledged. */
interface Acknowledged {
  readonly kind: 'passes' | 'payouts'
  readonly id: string
  /** When the answer arrived, in milliseconds since the epoch. */
  readonly at: number
}

const root = mkdtempSync(join(tmpdir(), 'svc-drill-'))
chmodSync(root, 0o711)
const backupDir = join(root, 'backup')
const network = await startNetwork()
// Otherwise its clock continues from its first block.
await network.rpc.ask('evm_setTime', Date.now())

/** Bodies of each event that the endpoint has received. */
const received = new Map<string, string[]>()
const receiver = createServer((request, response) => {
  const hash = createHash('sha256')
  request.on('data', (part) => hash.update(part))
  request.on('end', () => {
    const id = String(request.headers['service-event-id'])
    received.set(id, [...(received.get(id) ?? []), hash.digest('hex')])
    response.end()
  })
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`

let generation = 0
const dataDir = () => join(root, `data-${generation}`)
const env = () => ({
  DATA_DIR: dataDir(),
  BACKUP_DIR: backupDir,
  SVC_CHAIN_RPC_URL: network.anvil.url,
  SVC_USDC_ADDRESS: network.token,
  SVC_PAYOUT_KEY: KEY,
  SVC_CHAIN_CONFIRMATIONS: '2',
  SVC_ALLOW_TEST_CHAIN: '1',
  SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
  LOG_LEVEL: 'error',
})

let service: Program
let base: string
let secret: string
let tenantId: string
async function start(): Promise<void> {
  service = startService(env(), ['--json'])
  const ready = await service.ready()
  base = String(ready.sandbox_base_url)
  if (generation > 0) return
  secret = String((ready.keys as Record<string, string>).sandbox_secret)
  tenantId = String(ready.tenant_id)
}

async function send(path: string, body: object): Promise<{ readonly id: string } | undefined> {
  const headers = {
    Authorization: `Bearer ${secret}`,
    'Content-Type': 'application/json',
    'Service-Version': current,
    'Idempotency-Key': randomUUID(),
  }
  const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (answer.status === 201) return (await answer.json()) as { id: string }
  if (answer.status >= 500 || answer.status === 429) return undefined
  throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}

async function make(path: string, body: object): Promise<string> {
  return until(`an answer to ${path}`, async () => (await send(path, body))?.id)
}

async function admin(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runAdmin(env(), ...words, '--json')
  if (code !== 0) throw new Error(`admin ${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Reads rows as the owner of the database. */
async function read<Row extends pg.QueryResultRow>(text: string): Promise<readonly Row[]> {
  const cluster = findCluster(dataDir())!
  const client = new pg.Client(connectionTo(cluster, findPostmaster(cluster.data)!))
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

async function prepare() {
  const template = { name: 'Drill', kind: 'coupon', fields: [] }
  const brand = { background_color: '#112233', foreground_color: '#ffffff' }
  const templateId = await make('/v1/pass_templates', { ...template, brand })
  await make('/v1/webhook-endpoints', { url: hook, enabled_events: ['*'] })
  const address = `eip155:31337:${PAYEE}`
  const destination = { type: 'usdc_address', address, holder_name: 'Drill' }
  const destinationId = await make('/v1/payout_destinations', destination)
  const database = await openDatabase({ dataDir: dataDir(), poolSize: 2, preparedStatements: true })
  const transfer = { from: 'network_clearing', to: 'settlement_payable', amount: PAYABLE } as const
  await database.sandbox.transaction((db) => post(db, tenantId, newId('stl'), { transfer }, Date.now()))
  await database.control.query({ text: `UPDATE sandbox.payout_destinations SET status = 'active'` })
  await database.close()
  return { templateId, destinationId }
}

const acknowledged: Acknowledged[] = []

/** Creates passes and payouts until the signal aborts or the service is gone. */
async function load(made: Awaited<ReturnType<typeof prepare>>, signal: AbortSignal): Promise<void> {
  const repeat = async (kind: Acknowledged['kind'], body: () => object) => {
    while (!signal.aborted) {
      const answer = await send(`/v1/${kind}`, body()).catch((error) => {
        if (!(error instanceof TypeError)) throw error // the connection is gone: the service was killed
        return undefined
      })
      if (answer) acknowledged.push({ kind, id: answer.id, at: Date.now() })
    }
  }
  const payout = () => ({ amount: randomInt(1, 500), currency: 'usdc', destination_id: made.destinationId })
  const pass = () => ({ template_id: made.templateId, holder: { name: 'A', email: 'a@example.com' } })
  await Promise.all([repeat('passes', pass), repeat('passes', pass), repeat('payouts', payout)])
}

const mining = setInterval(() => void network.rpc.ask('evm_mine').catch(() => {}), 300)

async function killAll(): Promise<number> {
  const { data } = findCluster(dataDir())!
  const postmaster = findPostmaster(data)!
  process.kill(service.pid, 'SIGKILL')
  process.kill(postmaster.pid, 'SIGKILL')
  const at = Date.now()
  await service.ended
  await until('the database to end', () => !isAlive(postmaster.pid), WAIT_MS)
  return at
}

/** Payouts on the chain and in the database, in cents. */
async function comparePaid(): Promise<void> {
  const [paid] = await read<{ cents: string; moving: string }>(
    `SELECT coalesce(sum(amount) FILTER (WHERE status = 'paid'), 0)::text AS cents,
            count(*) FILTER (WHERE status IN ('pending', 'in_transit'))::text AS moving FROM sandbox.payouts`,
  )
  const onChain = (await network.balanceOf(PAYEE)) / UNITS_PER_CENT
  if (`${onChain}` !== paid!.cents)
    throw new Error(`the chain has paid ${onChain} cents, but the database says ${paid!.cents}`)
}

async function verify(restoredTo: number): Promise<{ readonly lost: number; readonly again: number }> {
  for (const environment of ['sandbox', 'live'])
    await admin('audit', 'verify', '--tenant', tenantId, '--env', environment)
  await admin('ledger', 'verify', '--tenant', tenantId)
  await until(
    'all payouts to end',
    async () => {
      const [open] = await read<{ count: number }>(
        `SELECT count(*)::integer AS count FROM sandbox.payouts WHERE status IN ('pending', 'in_transit')`,
      )
      return open!.count === 0
    },
    WAIT_MS,
  )
  await comparePaid()
  await admin('ledger', 'verify', '--tenant', tenantId)
  const stored = new Set(
    (
      await read<{ id: string }>('SELECT id FROM sandbox.passes UNION ALL SELECT id FROM sandbox.payouts')
    ).map(({ id }) => id),
  )
  const missing = acknowledged.filter(({ id }) => !stored.has(id))
  // A change that was acknowledged before the last restored change was committed before it.
  const early = missing.filter(({ at }) => at < restoredTo)
  if (early.length > 0) throw new Error(`${early.length} changes from before the restored time are missing`)
  for (const each of missing) acknowledged.splice(acknowledged.indexOf(each), 1)
  await until(
    'all events to be delivered',
    async () => {
      const events = await read<{ id: string }>(
        'SELECT id FROM sandbox.events WHERE audience IS NOT NULL AND sequence > (SELECT min(since) FROM sandbox.webhook_endpoints)',
      )
      return events.every(({ id }) => received.has(id))
    },
    WAIT_MS,
  )
  for (const [id, bodies] of received)
    if (new Set(bodies).size > 1) throw new Error(`event ${id} was sent with different bodies`)
  return { lost: missing.length, again: [...received.values()].filter(({ length }) => length > 1).length }
}

/** Fails the drill if nothing was found on the chain in any round, because then it proves nothing. */
let found = 0
const results: { readonly mode: string; readonly rpoMs: number; readonly rtoMs: number }[] = []
const print = (line: string) => void process.stdout.write(`${line}\n`)

try {
  await start()
  const made = await prepare()
  for (let round = 1; round <= rounds; round += 1) {
    const mode = MODES[round % MODES.length]!
    const over = new AbortController()
    const loading = load(made, over.signal)
    const backup = await admin('backup', '--keep', '3')
    const ended = Date.parse(String(backup.ended))
    await new Promise((resolve) => setTimeout(resolve, loadMs + randomInt(loadMs)))
    const killedAt = await killAll()
    over.abort()
    await loading
    const wal = join(findCluster(dataDir())!.data, 'pg_wal')
    const last = acknowledged.at(-1)!.at
    // An earlier time needs a later change in the WAL: recovery stops there.
    const target = randomInt(ended + 1, Math.max(ended + 2, last - 100))
    const began = Date.now()
    const old = dataDir()
    generation += 1
    const restored = await admin(
      ...['restore', '--from', backupDir],
      ...(mode === 'an earlier time' ? ['--to', new Date(target).toISOString()] : []),
      ...(mode === 'the end of the archive' ? [] : ['--pg-wal', wal]),
    )
    await start()
    const rtoMs = Date.now() - began
    rmSync(old, { recursive: true, force: true })
    const restoredTo = Date.parse(String(restored.restored_to))
    const reconciled = await admin('reconcile', '--apply')
    if (reconciled.payouts_continue !== true) throw new Error(JSON.stringify(reconciled))
    const { lost, again } = await verify(restoredTo)
    const actions = (reconciled.found as { action: string }[]).map(({ action }) => action)
    found += actions.length
    const count = (action: string) => actions.filter((each) => each === action).length
    // The last change may be younger than the order to kill.
    const rpoMs = Math.max(0, killedAt - restoredTo)
    results.push({ mode, rpoMs, rtoMs })
    print(
      `round ${round}: to ${mode}; RPO ${(rpoMs / 1000).toFixed(1)} s, RTO ${(rtoMs / 1000).toFixed(1)} s; ` +
        `${lost} acknowledged changes lost; payouts found on the chain: ${count('adopt')} adopted, ${count('record')} recorded; ` +
        `${again} of ${received.size} events were sent more than once so far`,
    )
  }
  for (const mode of MODES) {
    const some = results.filter((each) => each.mode === mode)
    if (some.length === 0) continue
    const most = (values: readonly number[]) => (Math.max(...values) / 1000).toFixed(1)
    print(
      `to ${mode}: ${some.length} rounds, RPO at most ${most(some.map(({ rpoMs }) => rpoMs))} s, ` +
        `RTO at most ${most(some.map(({ rtoMs }) => rtoMs))} s`,
    )
  }
  if (found === 0) throw new Error('no round found a payout on the chain that the database did not know')
  print(`${rounds} rounds: audit logs and ledgers are intact, and the chain has paid each payout once`)
} finally {
  clearInterval(mining)
  const cluster = findCluster(dataDir())
  const postmaster = cluster && findPostmaster(cluster.data)
  await endPrograms()
  if (postmaster) process.kill(postmaster.pid, 'SIGQUIT')
  receiver.close()
  receiver.closeAllConnections()
  await network.stop()
  rmSync(root, { recursive: true, force: true })
}
