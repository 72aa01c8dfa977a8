/** The guide for card processors, typed in as it is printed, and the service that it leaves without its database. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BareDatabase, createTestDatabase } from '../../support/database.ts'
import {
  endPrograms,
  type Program,
  ROOT,
  runAdmin,
  startProgram,
  startService,
  until,
} from '../../support/programs.ts'
import { openRelay, type Relay } from '../../support/relay.ts'
import { authorization, createProcessor, type Processor } from './door.ts'

const directory = mkdtempSync(join(tmpdir(), 'svc-guide-'))

/** Commands of the guide's section "Try it", without the one that starts the service. */
function commandsOf(page: string): string {
  const [, section = ''] = /^## Try it\n([\s\S]*?)^## /m.exec(page) ?? []
  const blocks = [...section.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block]) => block)
  expect(blocks).toHaveLength(4)
  return blocks.slice(1).join('')
}

/** Programs of the repository under the names that a terminal in its folder knows. */
const NAMES = `
npm() { while [ "$1" != -- ]; do shift; done; shift; '${process.execPath}' '${ROOT}/runtime/operator/command/admin.ts' "$@"; }
npx() { shift; '${process.execPath}' '${ROOT}/runtime/cli/svc.ts' "$@"; }
`

let service: Program
let line: Readonly<Record<string, unknown>>
let relay: Relay
let database: BareDatabase
let env: Record<string, string>
let processor: Processor
let number: string
let certificateId: string
let connect: (url: unknown) => Processor

beforeAll(async () => {
  database = await createTestDatabase()
  relay = await openRelay(database.url)
  env = { DATABASE_URL: relay.url, SVC_PEPPER: database.pepper, DATA_DIR: join(directory, '.data') }
  service = startService({ ...env, NETWORK_PORT: '0' }, ['--json', '--demo'])
  line = await service.ready()
}, 60_000)
afterAll(async () => {
  processor?.close()
  await endPrograms()
  await relay.down()
  await database.drop()
  rmSync(directory, { recursive: true })
})

test('a reader of the guide connects a processor and gets a decision', { timeout: 60_000 }, async () => {
  writeFileSync(join(directory, 'ready.json'), JSON.stringify(line))
  const script = commandsOf(readFileSync('docs/network.md', 'utf8'))
    .replaceAll('https://127.0.0.1:4030', String(line.network_url))
    .concat('\necho; echo "$secret $number"')
  const { stdout } = await promisify(execFile)('bash', ['-euc', NAMES + script], {
    cwd: directory,
    env: { ...process.env, ...env, SVC_BASE_URL: String(line.sandbox_base_url) },
  })
  certificateId = /ncrt_\w+/.exec(stdout)?.[0] ?? ''
  const [answer, secrets = ''] = stdout.trimEnd().split('\n').slice(-2)
  expect(answer).toMatch(
    /^\{"message_id":"msg-1","decision":"approved","amount":1250,"approval_code":"[A-Z0-9]{6}"\}$/,
  )
  const pem = (name: string) => readFileSync(join(directory, name), 'utf8')
  const certificate = { cert: pem('processor.crt'), key: pem('processor.key'), file: 'processor.crt' }
  const [secret = '', shown = ''] = secrets.split(' ')
  number = shown
  const ca = pem('.data/network/server.pem')
  connect = (url) => createProcessor(String(url), ca, certificate, [secret])
  processor = connect(line.network_url)

  const metrics = await (await fetch(`${line.console_url}/metrics`)).text()
  const labels = 'environment="sandbox",kind="authorize"'
  expect(metrics).toContain(`svc_network_messages_total{${labels},outcome="approved"} 1\n`)
  expect(metrics).toContain(`svc_network_message_duration_seconds_count{${labels}} 1\n`)
})

test('while the database is away, every message is answered in time, and afterwards all is decided again', async () => {
  const answers: { readonly decision: string; readonly ms: number }[] = []
  let sending = true
  const load = Array.from({ length: 4 }, async () => {
    while (sending) {
      const { body, ms } = await processor.send(
        '/v1/authorizations',
        authorization({ card_number: number, amount: 1 }),
      )
      answers.push({ decision: body.decision, ms })
    }
  })
  const have = (decision: string, since = 0) =>
    until(`ten answers ${decision}`, () => {
      return answers.slice(since).filter((answer) => answer.decision === decision).length >= 10
    })
  await have('approved')
  await relay.down()
  await have('unavailable')
  const away = answers.length
  await relay.up()
  await have('approved', away)
  sending = false
  await Promise.all(load)
  expect(new Set(answers.map(({ decision }) => decision))).toEqual(new Set(['approved', 'unavailable']))
  expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(2000)
  expect(service.stderr()).not.toContain(number)
})

test('a second node knows the message, and both stop accepting a retired certificate', async () => {
  const node = startService({ ...env, NETWORK_PORT: '0' }, ['--json', '--role', 'network'])
  const other = connect((await node.ready()).network_url)
  const nodes = [processor, other]
  const message = authorization({ card_number: number })
  const answers = []
  for (const each of nodes) answers.push((await each.send('/v1/authorizations', message)).body)
  expect(answers[0].decision).toBe('approved')
  expect(answers[1]).toEqual(answers[0])
  expect((await runAdmin(env, 'network', 'certificate', 'retire', certificateId)).code).toBe(0)
  for (const each of nodes) {
    const refused = async () => (await each.send('/v1/authorizations', message)).status === 401
    await until('the end of the certificate', refused)
  }
  other.close()
  expect((await node.end()).code).toBe(0)

  const doctor = await startProgram(process.execPath, ['runtime/operator/command/doctor.ts'], env).ended
  expect(doctor.stdout).toMatch(
    /^fail +card network, sandbox +Acme Processing cannot connect: there is no active certificate/m,
  )
  expect(doctor.stdout).toMatch(/^ok +card network, live +no processor is configured/m)
})
