/**
 * `npm run bench:fan-out`: a change of a template that many passes are of, each on a device: how long its answer takes,
 * and what a process of the service needs until APNs has a push for each device. The fake APNs is a process of its own.
 *
 * Options: --devices N (100000), --changes N (15) of the templates in turn, to time their answers, --profile DIR
 * (none): the service writes its processor profile there.
 */
import { fork } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { on } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { DEVELOPMENT } from '../../runtime/passes/wallets/render/apple/development.ts'
import { makeAuthority } from '../passes/sync/authority.ts'
import { until } from '../support/programs.ts'
import { startDemoService } from './demo-service.ts'
import type { Told } from './fan-out-apns.ts'
import { processorSeconds, SESSION, serverSeconds } from './processor.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000' },
    changes: { type: 'string', default: '15' },
    profile: { type: 'string' },
  },
})
const devices = Number(options.devices)

const KEY_ID = 'BENCH00000'

// As if each had been issued, opened by its holder and registered by a device of its own.
const FILL = [
  `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, platforms, fields, page_token, metadata, created, updated)
   SELECT t.tenant_id, 'pass_' || lpad(n::text, 26, '0'), t.id, 'installed', '{apple}', '{}', 'token', '{}', t.created, t.created
     FROM sandbox.pass_templates t, generate_series(1, $2::integer) n WHERE t.id = $1`,
  `INSERT INTO sandbox.apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
   SELECT p.tenant_id, md5(p.id), p.id, p.template_id, md5(p.id) || md5(p.id), 0, p.created
     FROM sandbox.passes p WHERE p.template_id = $1`,
  'INSERT INTO sandbox.wallet_heads SELECT tenant_id, 0 FROM sandbox.pass_templates WHERE id = $1 ON CONFLICT DO NOTHING',
  'VACUUM ANALYZE sandbox.apple_registrations',
  // The same worker would also send the passes to Google, slowly.
  "UPDATE sandbox.google_cursors SET ready_at = 'infinity'",
]

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const residentMebibytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
const line = (name: string, figure: string) => console.log(`  ${name.padEnd(44)} ${figure}`)

/** Starts the fake APNs. Returns the settings of a service that uses it. */
async function startApns({ directory, own }: Scratch) {
  const authority = makeAuthority()
  const { cert, key } = authority.issue('localhost')
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const [p8, ca] = [join(directory, 'apns.p8'), join(directory, 'apns-ca.pem')]
  writeFileSync(p8, privateKey)
  writeFileSync(ca, authority.cert)
  const { team: teamId, passType: topic } = DEVELOPMENT
  const given = JSON.stringify({ cert, key, publicKey, keyId: KEY_ID, teamId, topic })
  const child = fork(join(import.meta.dirname, 'fan-out-apns.ts'), {
    env: { ...process.env, FAN_OUT_APNS: given },
  })
  own(child)
  // Keeps what arrives while nobody waits: the last pushes can be faster than the answer to the change.
  const messages = on(child, 'message', { close: ['exit'] })
  const hear = async () => {
    const { done, value } = await messages.next()
    if (done) throw new Error('the fake APNs ended')
    return value[0]
  }
  const url = await hear()
  const settings = {
    APPLE_PUSH_URL: String(url),
    APPLE_PUSH_KEY: p8,
    APPLE_PUSH_KEY_ID: KEY_ID,
    NODE_EXTRA_CA_CERTS: ca,
    ...(options.profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${options.profile}` }),
  }
  const tell = async (): Promise<Told> => await hear()
  return { settings, tell, expect: (count: number) => void child.send(count) }
}

await withScratch(async (scratch) => {
  const apns = await startApns(scratch)
  const { url, call, origin, secret, pid } = await startDemoService(scratch, apns.settings)
  const make = async (): Promise<string> => {
    const brand = { background_color: '#112233', foreground_color: '#ffffff' }
    return (await call('/v1/pass_templates', { name: 'Coffee club', kind: 'loyalty', brand })).body.id
  }
  const [small, large] = [await make(), await make()]
  const change = async (template: string, name: string): Promise<number> => {
    const began = performance.now()
    const response = await fetch(`${origin}/v1/pass_templates/${template}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`PATCH: ${response.status}`)
    return performance.now() - began
  }
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  scratch.atEnd(() => db.end())
  for (const text of FILL) {
    const values = text.includes('$2') ? [large, devices] : text.includes('$1') ? [large] : []
    await db.query(text, values)
  }
  const session: number = (await db.query(SESSION)).rows[0].pid
  const used = () => [processorSeconds(pid), serverSeconds(session)] as const

  apns.expect(devices)
  await apns.tell()
  const memory = [residentMebibytes(pid)]
  const before = used()
  const began = performance.now()
  await change(large, 'Tea club')
  let told: Told
  do {
    told = await apns.tell()
    memory.push(residentMebibytes(pid))
  } while (told.devices < devices)
  const seconds = (performance.now() - began) / 1000
  const isDone = async () =>
    (
      await db.query(`SELECT NOT EXISTS (SELECT FROM sandbox.wallet_changes)
                         AND NOT EXISTS (SELECT FROM sandbox.wallet_updates) AS done`)
    ).rows[0].done
  await until('the end of the fan-out', isDone)
  const [service, server] = used().map((after, at) => after - before[at]!) as [number, number]
  const { rows } = await db.query(
    'SELECT count(*)::integer AS n FROM sandbox.apple_registrations WHERE template_id = $1 AND changed = 0',
    [large],
  )
  if (rows[0].n > 0) throw new Error(`${rows[0].n} devices were not told`)

  const [without, many]: [number[], number[]] = [[], []]
  for (let count = 0; count < Number(options.changes); count += 1) {
    without.push(await change(small, `Club ${count}`))
    many.push(await change(large, `Club ${count}`))
  }
  console.log(`a change of a template of ${devices} passes, each on a device:`)
  if (many.length > 0) {
    line('PATCH, of a template without passes', `${median(without).toFixed(1)} ms`)
    line('PATCH, of the template', `${median(many).toFixed(1)} ms`)
  }
  line(
    'until APNs has a push for each device',
    `${seconds.toFixed(1)} s  ${(devices / seconds).toFixed(0)} devices/s`,
  )
  line('pushes', String(told.pushes))
  line('processor time, service', `${service.toFixed(1)} s  ${(devices / service).toFixed(0)} devices/s`)
  line('processor time, PostgreSQL', `${server.toFixed(1)} s  ${(devices / server).toFixed(0)} devices/s`)
  line('memory of the service, MiB, in quarters', memory.map((size) => size.toFixed(0)).join(' → '))
})
