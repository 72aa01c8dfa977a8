/**
 * `npm run bench:memory`: the memory of a service after many requests of each kind, and of all kinds mixed. Each kind has a
 * service of its own. Prints the memory at the start, after a warm-up, and after each 2,000 requests, and then the handles,
 * timers and listeners that grew.
 *
 *   api         GET /v1/me
 *   sign-ins    POST /sign-in with an address that no member has: one password hash each
 *   templates   POST /v1/pass_templates with an icon, a logo and a strip, new ones each time
 *   files       GET of a pass file, of templates with images
 *
 * Options: --requests N (10000), --connections C (16), --only NAME (of kinds whose name has it).
 */
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { encodePng } from '../../runtime/passes/wallets/render/png.ts'
import { BENCH_PEPPER, type DemoService, startDemoService } from './demo-service.ts'
import type { Probe } from './memory-probe.ts'
import { type Scratch, stop, withScratch } from './scratch.ts'
import { print } from './webhooks-figures.ts'

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string', default: '' },
  },
})

const STEP = 2000
const WARM_UP = 200
/** Longer than an idle connection is kept open. */
const IDLE_MS = 10_000
/** Buckets that the requests take from. */
const BUCKETS = ['read', 'templates_write', 'concurrent_connections']
/** Templates with images of their own that pass files are asked for. */
const TEMPLATES = 20

/** Sends one request. Throws if the answer is not the expected one. */
type Send = (index: number) => Promise<void>

async function expectStatus(response: Response, status: number): Promise<void> {
  const body = await response.arrayBuffer()
  if (response.status === status) return
  throw new Error(`${response.url}: ${response.status} instead of ${status}: ${Buffer.from(body)}`)
}

async function drawImage(width: number, height: number): Promise<string> {
  const noise = Uint8Array.from({ length: 4 * width * height }, () => Math.random() * 64)
  return (await encodePng({ width, height, pixels: noise })).toString('base64')
}

async function drawTemplate() {
  const [icon, logo, strip] = await Promise.all([drawImage(87, 87), drawImage(160, 150), drawImage(375, 288)])
  return {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff', icon, logo, strip },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  }
}

/** An address of its own for each request, behind a proxy, so that no address runs out of its allowance. */
const from = (index: number) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`

async function prepareSignIns({ consoleUrl }: DemoService): Promise<Send> {
  const page = await fetch(`${consoleUrl}/sign-in`)
  const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!
  const form = (await page.text()).split('</form>')[0]!
  const csrf = /name="csrf" value="([^"]+)"/.exec(form)![1]!
  return async (index) => {
    const fields = { csrf, email: `member${index}@example.com`, password: 'not the password', code: '123456' }
    const body = new URLSearchParams(fields)
    await expectStatus(
      await fetch(`${consoleUrl}/sign-in`, { method: 'POST', headers: { cookie }, body }),
      403,
    )
  }
}

async function prepareTemplates({ call }: DemoService): Promise<Send> {
  const templates = await Promise.all(Array.from({ length: TEMPLATES }, drawTemplate))
  return async (index) => void (await call('/v1/pass_templates', templates[index % TEMPLATES]))
}

async function prepareFiles({ call }: DemoService): Promise<Send> {
  const urls: string[] = []
  for (let made = 0; made < TEMPLATES; made += 1) {
    const template = await call('/v1/pass_templates', await drawTemplate())
    const pass = await call('/v1/passes', { template_id: template.body.id })
    urls.push(pass.body.download.apple_url)
  }
  return async (index) => {
    const headers = { 'x-forwarded-for': from(index) }
    await expectStatus(await fetch(urls[index % TEMPLATES]!, { headers }), 200)
  }
}

const KINDS: Readonly<Record<string, (service: DemoService) => Promise<Send>>> = {
  api:
    async ({ call }) =>
    async () =>
      void (await call('/v1/me')),
  'sign-ins': prepareSignIns,
  templates: prepareTemplates,
  files: prepareFiles,
}

async function prepareMixed(service: DemoService): Promise<Send> {
  const sends: Send[] = []
  for (const prepare of Object.values(KINDS)) sends.push(await prepare(service))
  return (index) => sends[index % sends.length]!(index)
}

async function liftLimits({ url, tenantId }: DemoService): Promise<void> {
  for (const bucket of BUCKETS) {
    const words = ['limit', 'lift', '--tenant', tenantId, '--env', 'sandbox', '--bucket', bucket]
    const admin = [
      'runtime/operator/command/admin.ts',
      ...words,
      '--factor',
      '1000',
      '--hours',
      '2',
      '--json',
    ]
    const env = { ...process.env, DATABASE_URL: url, SVC_PEPPER: BENCH_PEPPER }
    await promisify(execFile)(process.execPath, admin, { env })
  }
}

async function sendAll(send: Send, first: number, count: number): Promise<void> {
  let next = first
  const each = async () => {
    while (next < first + count) {
      const index = next
      next += 1
      await send(index)
    }
  }
  await Promise.all(Array.from({ length: Number(options.connections) }, each))
}

async function probe(path: string): Promise<Probe> {
  return JSON.parse(await text(connect(path)))
}

const MIB = 2 ** 20

function printLine(name: string, { rss, heapUsed, external, arrayBuffers }: Probe): void {
  const cells = [rss, heapUsed, external, arrayBuffers].map((bytes) =>
    String(Math.round(bytes / MIB)).padStart(9),
  )
  print(`  ${name.padEnd(20)}${cells.join('')}`)
}

/** Counts at both times of what there is more of. */
function listGrown(before: Probe, after: Probe): string[] {
  const counts = ({ resources, listeners }: Probe): Record<string, number> => ({ ...resources, listeners })
  const earlier = counts(before)
  return Object.entries(counts(after))
    .filter(([name, count]) => count > (earlier[name] ?? 0))
    .map(([name, count]) => `${name} ${earlier[name] ?? 0} → ${count}`)
}

async function watchKind(
  { directory, atEnd }: Scratch,
  name: string,
  prepare: (service: DemoService) => Promise<Send>,
): Promise<void> {
  const own: (() => unknown)[] = []
  const end = async () => {
    for (const each of own.splice(0).reverse()) await each()
  }
  atEnd(end)
  const socket = join(directory, `${name}.sock`)
  const loaded = join(import.meta.dirname, 'memory-probe.ts')
  const service = await startDemoService(
    {
      directory: join(directory, name),
      atEnd: (each) => void own.push(each),
      own: (child) => void own.push(() => stop(child)),
    },
    {
      NODE_OPTIONS: `--expose-gc --import=${loaded}`,
      MEMORY_PROBE: socket,
      TRUSTED_PROXIES: '1',
      LOG_LEVEL: 'error',
      SVC_MAX_LOOP_DELAY_MS: '60000',
    },
  )
  await liftLimits(service)
  const send = await prepare(service)
  print(
    `${name.padEnd(22)}${['rss', 'heap', 'external', 'buffers'].map((word) => word.padStart(9)).join('')}  (MiB)`,
  )
  printLine('at the start', await probe(socket))
  await sendAll(send, 0, WARM_UP)
  const warm = await probe(socket)
  printLine('after the warm-up', warm)
  const total = Number(options.requests)
  for (let sent = 0; sent < total; sent += STEP) {
    const count = Math.min(STEP, total - sent)
    await sendAll(send, WARM_UP + sent, count)
    printLine(`after ${sent + count}`, await probe(socket))
  }
  // Connections that the requests used are closed when they have been idle for this long.
  await wait(IDLE_MS)
  const last = await probe(socket)
  printLine('idle', last)
  print(`  grew: ${listGrown(warm, last).join(', ') || 'nothing'}`)
  await end()
}

await withScratch(async (scratch) => {
  for (const [name, prepare] of Object.entries({ ...KINDS, mixed: prepareMixed })) {
    if (name.includes(options.only)) await watchKind(scratch, name, prepare)
  }
})
