import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { restoreBackup } from '../../runtime/database/backup/restore-backup.ts'
import { arePayoutsHeld, recordReconciled } from '../../runtime/database/backup/restored.ts'
import { takeBackup } from '../../runtime/database/backup/take-backup.ts'
import { serverAccount } from '../../runtime/database/embedded/account.ts'
import { findPostmaster } from '../../runtime/database/embedded/postmaster.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { endPrograms, isAlive, type Program, runAdmin, startService, until } from '../support/programs.ts'

const isRoot = process.getuid?.() === 0

let place: string
let dataDir: string
/** A data directory that was opened and closed, for tests of what happens to one that is there. */
let made: string

const makePlace = () => {
  const made = mkdtempSync(join(tmpdir(), 'svc-embedded-'))
  chmodSync(made, 0o711)
  return made
}

beforeAll(async () => {
  made = makePlace()
  await (await open([], join(made, 'data'))).close()
})
afterAll(() => rmSync(made, { recursive: true, force: true }))

beforeEach(() => {
  place = makePlace()
  dataDir = join(place, 'deep', 'data')
})

/** Puts the one that is there where the test's is to be, owners and all. */
function copyMade(): void {
  mkdirSync(dirname(dataDir))
  execFileSync('cp', ['-a', join(made, 'data'), dataDir])
}

afterEach(async () => {
  await endPrograms()
  const server = serverOf(dataDir)
  if (server) process.kill(server.pid, 'SIGQUIT')
  await until('the server to end', () => !serverOf(dataDir))
  const outside = dataPlace(dataDir)
  if (outside && isAbsolute(outside)) rmSync(dirname(outside), { recursive: true, force: true })
  rmSync(place, { recursive: true, force: true })
})

/** `data` of the connection file: where the cluster stands. */
function dataPlace(directory: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, 'postgres/connection.json'), 'utf8')).data
  } catch {
    return undefined // none was made
  }
}

function clusterOf(directory: string): string {
  const data = dataPlace(directory) ?? 'data'
  return isAbsolute(data) ? data : join(directory, 'postgres', data)
}

function serverOf(directory: string) {
  return findPostmaster(clusterOf(directory))
}

/** A worker on a new database has to be told. */
const ADDRESSES = {
  SANDBOX_BASE_URL: 'http://sandbox.invalid',
  LIVE_BASE_URL: 'http://live.invalid',
  CONSOLE_BASE_URL: 'http://console.invalid',
}

const start = () => startService({ DATA_DIR: dataDir, ...ADDRESSES })

async function open(said: string[] = [], directory = dataDir) {
  const settings = { dataDir: directory, poolSize: 2, preparedStatements: true }
  return openDatabase(settings, (line) => said.push(line))
}

/** Keys that were printed are kept until that is known: who is killed before shows them again. */
async function secretsForgotten(): Promise<void> {
  const db = await open()
  const text = 'SELECT 1 FROM control.deployment WHERE demo_secrets IS NULL'
  await until('the keys to be forgotten', async () => (await db.control.query({ text })).rows.length === 1)
  await db.close()
}

/** Ends the service and expects it and its server to be gone. */
async function endLast(program: Program): Promise<void> {
  const { code, stderr } = await program.end('SIGTERM')
  expect(code, stderr).toBe(0)
  expect(serverOf(dataDir)).toBeUndefined()
}

describe('backups of the embedded server', () => {
  test('a backup is restored to a time: with the changes before it, without later ones, and payouts wait', async () => {
    copyMade()
    const folder = join(place, 'backup')
    const settings = { dataDir, backupDir: folder, poolSize: 2, preparedStatements: true }
    const db = await openDatabase(settings)
    const write = (word: string) => db.control.query({ text: `INSERT INTO control.kept VALUES ('${word}')` })
    await db.control.query({ text: 'CREATE TABLE control.kept (word text)' })
    expect(await arePayoutsHeld(db.control)).toBe(false)
    const { manifest, isArchiving } = await takeBackup({
      dataDir,
      folder,
      keep: 1,
      backupDir: folder,
      say: () => {},
    })
    expect(isArchiving).toBe(true)
    await write('before')
    const { rows } = await db.control.query<{ at: number }>({ text: 'SELECT clock_timestamp() AS at' })
    const to = rows[0]!.at + 1
    await until('the time to pass', async () => Date.now() > to + 1)
    await write('after')
    const { rows: last } = await db.control.query<{ segment: string }>({
      text: 'SELECT pg_walfile_name(pg_switch_wal()) AS segment',
    })
    await until('the archive', () => readdirSync(join(folder, 'wal')).includes(`${last[0]!.segment}.gz`))
    await db.close()

    const made = join(place, 'restored')
    const restored = await restoreBackup({ folder, dataDir: made, to, say: () => {} })
    expect(restored).toMatchObject({ backup: manifest.id, timeline: 2 })
    const again = await open([], made)
    expect((await again.control.query({ text: 'SELECT word FROM control.kept' })).rows).toEqual([
      { word: 'before' },
    ])
    expect(again.pepper).toBe(db.pepper)
    expect(await arePayoutsHeld(again.control)).toBe(true)
    await recordReconciled(again.control)
    expect(await arePayoutsHeld(again.control)).toBe(false)
    await again.close()

    await expect(restoreBackup({ folder, dataDir: made, say: () => {} })).rejects.toThrow('is not empty')
    writeFileSync(join(folder, 'base', manifest.id, 'data', 'PG_VERSION'), '17')
    const other = join(place, 'other')
    await expect(restoreBackup({ folder, dataDir: other, say: () => {} })).rejects.toThrow(
      'data/PG_VERSION differs from its checksum',
    )
    expect(readdirSync(place).filter((name) => name.startsWith('other'))).toEqual([])
  }, 60_000)
})

describe('the embedded server', () => {
  test('the embedded server starts on an empty directory and keeps what it has', async () => {
    const first = await open()
    await first.control.query({ text: `CREATE TABLE control.kept AS SELECT 'Straße' AS word` })
    const { rows } = await first.control.query({
      text: `SELECT current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding,
               (SELECT datlocprovider::text || ' ' || datlocale FROM pg_database WHERE datname = current_database()) AS locale`,
    })
    expect(rows).toEqual([{ fsync: 'on', encoding: 'UTF8', locale: 'b C.UTF-8' }])
    await first.close()
    expect(serverOf(dataDir)).toBeUndefined()

    const second = await open()
    expect((await second.control.query({ text: 'SELECT word FROM control.kept' })).rows).toEqual([
      { word: 'Straße' },
    ])
    expect(second.pepper).toBe(first.pepper)
    await second.close()
    expect(readdirSync(dataDir).toSorted()).toEqual([
      'card-secret',
      'pepper',
      'postgres',
      'postgres.log',
      'start.lock',
    ])
  })

  test('the embedded server keeps its secrets to itself', () => {
    copyMade()
    for (const file of ['card-secret', 'pepper', 'postgres/connection.json', 'postgres.log', 'start.lock']) {
      expect((statSync(join(dataDir, file)).mode & 0o777).toString(8), file).toBe('600')
    }
    expect(statSync(clusterOf(dataDir)).mode & 0o077).toBe(0)
  })

  test('the embedded server outlives a killed service, is adopted by the next and stopped by it', async () => {
    copyMade()
    const first = start()
    const { tenant_id, keys } = await first.ready()
    expect(keys).toBeDefined()
    await secretsForgotten()
    const orphan = serverOf(dataDir)?.pid
    await first.end('SIGKILL')
    expect(serverOf(dataDir)?.pid).toBe(orphan)

    const second = start()
    const line = await second.ready()
    expect(line).toMatchObject({ tenant_id })
    expect(line).not.toHaveProperty('keys')
    expect(serverOf(dataDir)?.pid).toBe(orphan)
    await endLast(second)
  })

  test('the embedded server starts again after both were killed', async () => {
    copyMade()
    const first = start()
    const { tenant_id } = await first.ready()
    const server = serverOf(dataDir)?.pid ?? 0
    await first.end('SIGKILL')
    process.kill(server, 'SIGKILL')
    const second = start()
    expect(await second.ready()).toMatchObject({ tenant_id })
    await endLast(second)
  })

  test('the embedded server comes back under a running service', async () => {
    copyMade()
    const said: string[] = []
    const db = await open(said)
    await db.sandbox.query({ text: 'SELECT 1' })
    const before = serverOf(dataDir)
    process.kill(before?.pid ?? 0, 'SIGKILL')
    await until('the pools to work again', async () => {
      const answers = await Promise.allSettled(
        [db.control, db.sandbox, db.live].map((pool) => pool.query({ text: 'SELECT 1' })),
      )
      return answers.every(({ status }) => status === 'fulfilled') && serverOf(dataDir)?.pid !== before?.pid
    })
    expect(serverOf(dataDir)?.port).toBe(before?.port)
    expect(said).toHaveLength(1)
    await db.close()
    expect(serverOf(dataDir)).toBeUndefined()
  })

  test.each([
    ['names a process that is gone', () => 2 ** 22 - 3],
    ['names a program of the same user', (bystander: number) => bystander],
  ])('the embedded server starts over a lock file that %s', async (_, pidFor) => {
    copyMade()
    const account = serverAccount()
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore', ...account })
    try {
      const data = clusterOf(dataDir)
      const lock = join(data, 'postmaster.pid')
      writeFileSync(
        lock,
        `${pidFor(bystander.pid ?? 0)}\n${data}\n1700000000\n5432\n\n127.0.0.1\n   1 1\nready   \n`,
        { mode: 0o600 },
      )
      if (account) chownSync(lock, account.uid, account.gid)
      await (await open()).close()
      expect(isAlive(bystander.pid ?? 0)).toBe(true)
    } finally {
      bystander.kill('SIGKILL')
    }
  })

  test('the embedded server is made once by two starts at once and stopped by the last of them', async () => {
    const programs = [start(), start(), start()]
    const lines = await Promise.all(programs.map((program) => program.ready()))
    expect(new Set(lines.map(({ tenant_id }) => tenant_id)).size).toBe(1)
    expect(lines.filter(({ keys }) => keys).length).toBeGreaterThan(0)
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres-unfinished'))).toEqual([])
    const server = serverOf(dataDir)?.pid
    const last = programs.pop()
    for (const program of programs) {
      expect((await program.end('SIGTERM')).code).toBe(0)
      expect(serverOf(dataDir)?.pid).toBe(server)
    }
    if (last) await endLast(last)
  })

  test('the embedded server serves the operator’s tool before, during and after the service', async () => {
    copyMade()
    const env = { DATA_DIR: dataDir, ...ADDRESSES }
    const before = await runAdmin(env, 'tenant', 'create', '--name', 'Early', '--json')
    expect(before.code, before.stderr).toBe(0)
    expect(serverOf(dataDir)).toBeUndefined()
    const service = start()
    const { tenant_id, keys } = await service.ready()
    expect(keys).toBeDefined()
    const server = serverOf(dataDir)?.pid
    const during = await runAdmin(env, 'tenant', 'show', String(tenant_id), '--json')
    expect(JSON.parse(during.stdout)).toMatchObject({ id: tenant_id, plan: 'enterprise' })
    expect(serverOf(dataDir)?.pid).toBe(server)
    await endLast(service)
    const after = await runAdmin(env, 'tenant', 'show', JSON.parse(before.stdout).id, '--json')
    expect(JSON.parse(after.stdout)).toMatchObject({ name: 'Early' })
  })

  test('the embedded server is made anew when a start was killed in the middle of making it', async () => {
    const first = start()
    await until('initdb to begin', () => {
      try {
        const unfinished = readdirSync(dataDir).find((name) => name.startsWith('postgres-unfinished'))
        return unfinished !== undefined && readdirSync(join(dataDir, unfinished, 'data')).length > 3
      } catch {
        return false // not yet made
      }
    })
    await first.end('SIGKILL')
    const second = start()
    expect(await second.ready()).toHaveProperty('keys')
    expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres-unfinished'))).toEqual([])
    await endLast(second)
  })

  test.runIf(isRoot)('the embedded server runs for a user who is not root', async () => {
    const account = serverAccount()
    mkdirSync(dirname(dataDir), { recursive: true })
    chownSync(dirname(dataDir), account?.uid ?? 0, account?.gid ?? 0)
    const program = startService({ DATA_DIR: dataDir, HOME: '/nonexistent', ...ADDRESSES }, undefined, {
      ...account,
    })
    expect(await program.ready()).toHaveProperty('keys')
    expect(statSync(join(dataDir, 'postgres/connection.json')).uid).toBe(account?.uid)
    await endLast(program)
    // Root may go on with the same data.
    const root = start()
    expect(await root.ready()).toHaveProperty('tenant_id')
    await endLast(root)
  })

  test.runIf(isRoot)(
    'the embedded server keeps its data elsewhere when its user cannot reach the data directory, and says so',
    async () => {
      chmodSync(place, 0o700)
      const said: string[] = []
      const first = await open(said)
      await first.control.query({ text: 'CREATE TABLE control.kept (id int)' })
      await first.close()
      const data = dataPlace(dataDir) ?? ''
      expect(isAbsolute(data)).toBe(true)
      expect(said.join('\n')).toContain(dirname(data))
      const second = await open(said)
      await second.control.query({ text: 'SELECT * FROM control.kept' })
      await second.close()
      expect(said).toHaveLength(1)
    },
  )
})
