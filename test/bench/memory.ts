/**
 * `npm run bench:memory`: the memory that a process of the service holds after thousands of requests of each kind: calls
 * of the API, failed sign-ins (argon2id) and templates with images. The service runs twice: as `npm start` starts it, and
 * with the allocator's own settings. Prints the resident set in MB.
 *
 * Options: --requests N (500) of each kind in a step, --steps N (4), --connections C (16).
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { encodePng } from '../../runtime/passes/wallets/render/png.ts'
import { type DemoService, startDemoService } from './demo-service.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '500' },
    steps: { type: 'string', default: '4' },
    connections: { type: 'string', default: '16' },
  },
})

const SIDE = 150

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

/** Signs in with a password of no account, as a browser does: the form, then its fields. */
async function signIn({ console }: DemoService): Promise<void> {
  const form = await fetch(`${console}/sign-in`)
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await form.text()) ?? []
  const cookie = form.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const email = `${randomBytes(6).toString('hex')}@example.com`
  const body = new URLSearchParams({ csrf, email, password: 'not the password', code: '123456' })
  const answer = await fetch(`${console}/sign-in`, {
    method: 'POST',
    body,
    headers: { cookie, origin: console },
  })
  await answer.text()
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
}

const statuses = new Map<number, number>()

async function kindsOf(service: DemoService): Promise<Readonly<Record<string, () => Promise<unknown>>>> {
  const pixels = randomBytes(SIDE * SIDE * 4)
  const logo = (await encodePng({ width: SIDE, height: SIDE, pixels })).toString('base64')
  const brand = { background_color: '#112233', foreground_color: '#ffffff' }
  const { body } = await service.call('/v1/pass_templates', { name: 'Club', kind: 'loyalty', brand })
  const pass = { template_id: body.id, holder: { name: 'Ada' } }
  return {
    passes: () => service.call('/v1/passes', pass),
    'sign-ins': () => signIn(service),
    // The rate limit refuses most of them, after the body was read.
    images: () =>
      service
        .call('/v1/pass_templates', { name: 'Logo', kind: 'loyalty', brand: { ...brand, logo } })
        .catch(expectLimit),
  }
}

/** A refusal by the rate limit is none of the memory's business. */
function expectLimit(error: Error): void {
  if (!error.message.includes('rate_limited')) throw error
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
  let left = Number(options.requests)
  const one = async () => {
    while (left-- > 0) await work()
  }
  await Promise.all(Array.from({ length: Number(options.connections) }, one))
}

async function measure(
  scratch: Scratch,
  title: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const directory = mkdtempSync(join(scratch.directory, 'service-'))
  chmodSync(directory, 0o711)
  const service = await startDemoService({ ...scratch, directory }, settings)
  const kinds = await kindsOf(service)
  const rows: (readonly [string, number])[] = [['start', residentMegabytes(service.pid)]]
  for (let step = 1; step <= Number(options.steps); step++)
    for (const [name, work] of Object.entries(kinds)) {
      await repeat(work)
      rows.push([`${step}. ${name}`, residentMegabytes(service.pid)])
    }
  console.log(`${title}: ${rows.map(([name, megabytes]) => `${name} ${megabytes}`).join(', ')}`)
}

await withScratch(async (scratch) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } }
  const settings = Object.fromEntries(
    [...scripts.start.matchAll(/\b(MALLOC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  )
  await measure(scratch, 'as npm start', settings)
  await measure(scratch, "the allocator's own settings", {})
  console.log(`sign-ins by status: ${JSON.stringify(Object.fromEntries(statuses))}`)
})
