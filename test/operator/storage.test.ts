/** A database that cannot write for want of room, in the words of a real server. */
import { pino } from 'pino'
import { beforeAll, expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { watchStorage } from '../../runtime/operator/metrics/storage.ts'
import { makeTemplate, refusal } from '../api/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService({
  watched: true,
  log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
  // Turned away for load, a request would be 503 as well.
  env: { SVC_MAX_LOOP_DELAY_MS: '60000' },
})
let send: Send
const lines: string[] = []

beforeAll(async () => {
  send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, await makeTenant(service))).secret,
  })
})

const run = (text: string) => service.database.control.query({ text })

const readiness = async () => (await fetch(`${service.urls.sandbox}/readyz`)).status

/** Everything that needs a page more fails as PostgreSQL says it, until `end`. */
async function fail(code: string): Promise<{ end(): Promise<void> }> {
  await run(`CREATE FUNCTION control.no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '${code}'; END $$`)
  await run(`CREATE FUNCTION control.no_table() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '${code}'; END $$`)
  await run(
    'CREATE TRIGGER no_room BEFORE INSERT ON sandbox.pass_templates EXECUTE FUNCTION control.no_room()',
  )
  await run(`CREATE EVENT TRIGGER no_room ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
    EXECUTE FUNCTION control.no_table()`)
  return {
    async end() {
      await run('DROP EVENT TRIGGER no_room')
      await run('DROP TRIGGER no_room ON sandbox.pass_templates')
      await run('DROP FUNCTION control.no_room, control.no_table')
    },
  }
}

const TEMPLATE = {
  name: 'Coffee',
  kind: 'loyalty',
  brand: { background_color: '#000000', foreground_color: '#ffffff' },
  fields: [],
}

test('a full disk is 503 and not ready while it lasts; reads go on', async () => {
  expect(await readiness()).toBe(200)
  const full = await fail('53100')
  const { body } = await send('/v1/pass_templates?limit=1')
  expect(body.data).toEqual([])
  expect(await readiness()).toBe(200)
  const answer = await send('/v1/pass_templates', { body: TEMPLATE })
  expect(refusal(answer)).toEqual([503, 'unavailable', 'unavailable'])
  expect(answer.headers.get('Retry-After')).toBe('1')
  expect(answer.text).not.toMatch(/space|file|53100/)
  expect(await readiness()).toBe(503)
  expect((await send('/v1/pass_templates?limit=1')).status).toBe(200)
  const asked = async () => [
    await readiness(),
    lines.some((line) => line.includes('still has no disk space')),
  ]
  await expect.poll(asked, { interval: 100, timeout: 10_000 }).toEqual([503, true])
  await full.end()
  await expect.poll(readiness, { interval: 100, timeout: 10_000 }).toBe(200)
  await makeTemplate(send)
})

test.each(['53000', '53200', '53300', '53400'])(
  'an error %s of PostgreSQL is answered with 503, and the process stays ready',
  async (code) => {
    const failing = await fail(code)
    try {
      expect(refusal(await send('/v1/pass_templates', { body: TEMPLATE }))).toEqual([
        503,
        'unavailable',
        'unavailable',
      ])
      expect(await readiness()).toBe(200)
    } finally {
      await failing.end()
    }
  },
)

test('a full database is asked once a second, however many want to know', async () => {
  let [now, asked] = [0, 0]
  const full = Object.assign(new Error('no room'), { code: '53100' })
  let failing: Error | undefined = full
  const database = {
    query: async () => {
      asked += 1
      if (failing) throw failing
      return { rows: [], count: 0 }
    },
  }
  const storage = watchStorage(database, pino({ level: 'silent' }), () => now)
  expect([await storage.hasRoom(), asked]).toEqual([true, 0])
  storage.failed(new DatabaseUnavailable('full', { cause: full }))
  now = 999
  expect([await storage.hasRoom(), asked]).toEqual([false, 0])
  now = 1000
  expect(await Promise.all([storage.hasRoom(), storage.hasRoom()])).toEqual([false, false])
  now = 1999
  expect([await storage.hasRoom(), asked]).toEqual([false, 1])
  failing = undefined
  now = 2000
  expect([await storage.hasRoom(), storage.isFull(), asked]).toEqual([true, false, 2])
  storage.failed(new Error('anything else'))
  expect([await storage.hasRoom(), asked]).toEqual([true, 2])
})
