/** The guide for card processors, typed in as it is printed, and what an operator sees afterwards. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database.ts'
import { endPrograms, ROOT, startProgram, startService } from '../../support/programs.ts'

const directory = mkdtempSync(join(tmpdir(), 'svc-guide-'))
afterEach(endPrograms)
afterAll(() => rmSync(directory, { recursive: true }))

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

test('a reader of the guide connects a processor and gets a decision', { timeout: 60_000 }, async () => {
  const database = await createTestDatabase()
  const env = { DATABASE_URL: database.url, SVC_PEPPER: database.pepper, DATA_DIR: join(directory, '.data') }
  const service = startService({ ...env, NETWORK_PORT: '0' }, ['--json', '--demo'])
  const line = await service.ready()
  writeFileSync(join(directory, 'ready.json'), JSON.stringify(line))
  const script = commandsOf(readFileSync('docs/network.md', 'utf8'))
    .replaceAll('http://127.0.0.1:4010', String(line.sandbox_base_url))
    .replaceAll('https://127.0.0.1:4030', String(line.network_url))
  const { stdout } = await promisify(execFile)('bash', ['-euc', NAMES + script], {
    cwd: directory,
    env: { ...process.env, ...env, SVC_BASE_URL: String(line.sandbox_base_url) },
  })
  expect(stdout).toMatch(
    /\{"message_id":"msg-1","decision":"approved","amount":1250,"approval_code":"[A-Z0-9]{6}"\}$/,
  )

  const metrics = await (await fetch(`${line.console_url}/metrics`)).text()
  const labels = 'environment="sandbox",kind="authorize"'
  expect(metrics).toContain(`svc_network_messages_total{${labels},outcome="approved"} 1\n`)
  expect(metrics).toContain(`svc_network_message_duration_seconds_count{${labels}} 1\n`)
  const doctor = await startProgram(process.execPath, ['runtime/operator/command/doctor.ts'], env).ended
  expect(doctor.stdout).toMatch(/^ok +card network, sandbox +Acme Processing has 1 active certificates/m)
  expect(doctor.stdout).toMatch(/^ok +card network, live +no processor is configured/m)
  await service.end()
  await database.drop()
})
