/** Under which addresses callers reach a deployment whose processes each serve a part of it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readSettings, SettingsError } from '../../runtime/platform/settings.ts'
import { resolveBaseUrls } from '../../runtime/tenants/addresses/base-urls.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { endPrograms, startService } from '../support/programs.ts'

const DECLARED = {
  SANDBOX_BASE_URL: 'https://sandbox.example.com',
  LIVE_BASE_URL: 'https://api.example.com',
  CONSOLE_BASE_URL: 'https://console.example.com',
}
const PUBLIC = {
  sandbox: 'https://sandbox.example.com',
  live: 'https://api.example.com',
  console: 'https://console.example.com',
}
const OWN = { sandbox: 'http://127.0.0.1:1', live: 'http://127.0.0.1:2', console: 'http://127.0.0.1:3' }

let db: TestDatabase

beforeEach(async () => {
  db = await openTestDatabase()
  await db.control.query({ text: 'DELETE FROM control.addresses' })
})
afterEach(async () => {
  await endPrograms()
  await db.close()
})

const start = (role: string, env: Record<string, string> = {}) =>
  startService({ DATABASE_URL: db.url, SVC_PEPPER: db.pepper, ...env }, ['--json', '--role', role])

describe('a process of one role that does not know them refuses to start', () => {
  test.each([
    ['worker', ['SANDBOX_BASE_URL', 'LIVE_BASE_URL', 'CONSOLE_BASE_URL']],
    ['console', ['SANDBOX_BASE_URL', 'LIVE_BASE_URL']],
    ['api', ['CONSOLE_BASE_URL']],
  ])(
    'a process of the role %s refuses to start without the addresses of the others',
    async (role, variables) => {
      const { code, stdout, stderr } = await start(role).ended
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr.match(/^[A-Z]+_BASE_URL(?=: is not set: a process with only the role)/gm)).toEqual(
        variables,
      )
    },
  )
})

test('an address that one process was told is known to the others, until it is told anew', async () => {
  await start('worker', DECLARED).ready()
  const shown = { sandbox_base_url: PUBLIC.sandbox, live_base_url: PUBLIC.live, console_url: PUBLIC.console }
  expect(await start('api').ready()).toMatchObject(shown)
  await start('console', { SANDBOX_BASE_URL: 'https://test.example.com' }).ready()
  expect(await start('worker').ready()).toMatchObject({
    ...shown,
    sandbox_base_url: 'https://test.example.com',
  })
})

describe('what is known', () => {
  const resolve = (roles: string[], env: Record<string, string>, own: Partial<typeof OWN>) =>
    resolveBaseUrls(db.control, readSettings(env, { roles }), own)
  const { console: ownConsole, ...ownApis } = OWN

  test('a process that serves everything knows, without settings, where it listens, and tells the others', async () => {
    expect(await resolve([], {}, OWN)).toEqual(OWN)
    expect(await resolve(['worker'], {}, {})).toEqual(OWN)
    const moved = { ...OWN, live: 'http://127.0.0.1:9' }
    expect(await resolve([], {}, moved)).toEqual(moved)
    expect(await resolve(['worker'], {}, {})).toEqual(moved)
  })

  test('a process that serves a part knows, without settings, only its own address', async () => {
    await expect(resolve(['api'], {}, ownApis)).rejects.toBeInstanceOf(SettingsError)
    await resolve(['worker'], DECLARED, {})
    await db.control.query({ text: 'UPDATE control.addresses SET declared = false' }) // as if somebody had served all
    const other = { sandbox: 'http://127.0.0.1:7', live: 'http://127.0.0.1:8' }
    expect(await resolve(['api'], {}, ownApis)).toEqual({ ...ownApis, console: PUBLIC.console })
    expect(await resolve(['api'], {}, other)).toEqual({ ...other, console: PUBLIC.console })
    expect(await resolve(['worker'], {}, {})).toEqual(PUBLIC)
    expect(await resolve(['console'], {}, { console: ownConsole })).toEqual({
      ...PUBLIC,
      console: ownConsole,
    })
  })

  test('a setting makes an address known to every process, wherever one listens', async () => {
    expect(await resolve([], DECLARED, OWN)).toEqual(PUBLIC)
    expect(await resolve([], {}, OWN)).toEqual(PUBLIC)
    expect(await resolve(['api'], {}, ownApis)).toEqual(PUBLIC)
    expect(await resolve(['worker'], {}, {})).toEqual(PUBLIC)
  })
})
