/** Behind PgBouncer in transaction mode, with and without a way past it. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../../../runtime/database/migrate/migration-files.ts'
import { rolePassword } from '../../../runtime/database/migrate/roles.ts'
import { type OpenDatabase, openDatabase } from '../../../runtime/database/open/open-database.ts'
import { bumpRevision, watchRevision } from '../../../runtime/database/revision.ts'
import { connectWakeUpChannel, createWakeUps } from '../../../runtime/events/emit/wake-ups.ts'
import { openReceiver } from '../../events/delivery/receiver.ts'
import { openStage, type Stage } from '../../events/delivery/setup.ts'
import { startPooler, type TestPooler } from '../../support/pgbouncer.ts'
import { endPrograms, startProgram, startService, until } from '../../support/programs.ts'

/** Nothing that a test waits for comes by this. */
const HOUR_MS = 3_600_000

let stage: Stage
let pooler: TestPooler
const opened: OpenDatabase[] = []

beforeAll(async () => {
  stage = await openStage()
  const roles = await stage.database.control.query<{ name: string }>({
    text: 'SELECT name FROM control.roles',
  })
  const passwords = roles.rows.map(({ name }) => [name, rolePassword(stage.database.pepper, name)])
  pooler = await startPooler(stage.database.url, Object.fromEntries(passwords))
})
afterEach(endPrograms)
afterAll(async () => {
  await stage.dismiss()
  await Promise.all(opened.map((database) => database.close()))
  await pooler.stop()
  await stage.close()
})

const settings = (more: object = {}) => ({
  databaseUrl: pooler.url,
  pepper: stage.database.pepper,
  dataDir: '/nowhere',
  poolSize: 2,
  preparedStatements: false,
  ...more,
})

/** As another process does, through the pooler, with a way past it. */
async function openNode(): Promise<OpenDatabase> {
  const node = await openDatabase(settings({ databaseListenUrl: stage.database.url }))
  opened.push(node)
  return node
}

test('a delivery and a change of keys arrive by notification, not by looking', async () => {
  const receiver = await openReceiver()
  const endpoint = await stage.addEndpoint('ten_1', receiver.url)
  const [sender, node] = await Promise.all([openNode(), openNode()])
  const worker = stage.work({ pool: node.sandbox, pollMs: HOUR_MS })
  const wakeUps = createWakeUps()
  let connected = false
  wakeUps.subscribe('live', () => {
    connected = true
  })
  wakeUps.subscribe('sandbox', (space) => worker.wake(space))
  connectWakeUpChannel(node.control, wakeUps)
  let moved = 0
  const watch = await watchRevision(
    node.control,
    () => {
      moved += 1
    },
    HOUR_MS,
  )
  await until('the node to listen', () => connected)
  const wakeUpChannel = connectWakeUpChannel(sender.control, createWakeUps())
  for (let round = 1; round <= 3; round += 1) {
    await stage.emit('ten_1')
    wakeUpChannel.publish('sandbox', 'ten_1')
    await until('the delivery', async () => {
      const attempts = await stage.attempts(endpoint)
      return attempts.filter(({ status }) => status === 'succeeded').length === round
    })
    await sender.control.transaction(bumpRevision)
    await until('the change', () => moved === round)
  }
  await watch.stop()
  receiver.close()
})

test('a process listens on all channels by one connection', async () => {
  const before = await listening()
  const node = await openNode()
  let heard = 0
  for (const channel of ['one', 'two', 'three']) {
    node.control.listen(channel, () => {
      heard += 1
    })
  }
  await until('all channels', () => heard === 3)
  expect((await listening()).filter((pid) => !before.includes(pid))).toHaveLength(1)
  await node.control.query({ text: `SELECT pg_notify(c, '') FROM unnest(ARRAY['one', 'two', 'three']) AS c` })
  await until('one notification each', () => heard === 6)
})

/** Server processes of connections that listen. */
async function listening(): Promise<number[]> {
  const { rows } = await stage.database.control.query<{ pid: number }>({
    text: `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc listen'`,
  })
  return rows.map(({ pid }) => pid)
}

const env = () => ({
  DATABASE_URL: pooler.url,
  SVC_PEPPER: stage.database.pepper,
  SVC_PREPARED_STATEMENTS: 'off',
})

test('a start says what it means to have no way past the pooler, and with one it does not', async () => {
  const program = startService(env())
  await until('the words', () =>
    /polling then finds .* within 0\.5 s\. Set DATABASE_LISTEN_URL/.test(program.stderr()),
  )
  await program.end() // the pooler's connections bear its clients' names
  const before = await listening()
  const direct = startService({ ...env(), DATABASE_LISTEN_URL: stage.database.url })
  await direct.ready()
  await until('it to listen', async () => (await listening()).some((pid) => !before.includes(pid)))
  expect((await direct.end()).stderr).not.toContain('polling')
})

test.each([
  ['without', () => ({}), { verdict: 'warn', words: expect.stringMatching(/polling then finds/) }],
  [
    'with',
    () => ({ DATABASE_LISTEN_URL: stage.database.url }),
    { verdict: 'ok', words: expect.stringMatching(/^notifications arrive at/) },
  ],
])('the doctor says so, %s one', async (_, more, want) => {
  const doctor = startProgram(process.execPath, ['runtime/operator/command/doctor.ts', '--json'], {
    ...env(),
    ...more(),
  })
  const { findings } = JSON.parse((await doctor.ended).stdout)
  expect(findings.find(({ check }: { check: string }) => check === 'wake-ups')).toMatchObject(want)
})

test('migrations run past the pooler, and are refused where there is no way', async () => {
  const migrationsDir = mkdtempSync(join(tmpdir(), 'svc-migrations-'))
  cpSync(MIGRATIONS, migrationsDir, { recursive: true })
  writeFileSync(
    join(migrationsDir, '9001_later.sql'),
    '-- each environment, concurrently\n-- One.\nCREATE INDEX passes_by_holder ON passes (tenant_id, holder_email);\n',
  )
  await expect(openDatabase(settings({ migrationsDir }))).rejects.toThrow(
    /migrations are missing, and DATABASE_URL goes through a pooler.*set DATABASE_LISTEN_URL/,
  )
  const databaseListenUrl = stage.database.url
  await (await openDatabase(settings({ migrationsDir, databaseListenUrl }))).close()
  await (await openDatabase(settings({ migrationsDir }))).close() // nothing is missing
  rmSync(migrationsDir, { recursive: true })
})
