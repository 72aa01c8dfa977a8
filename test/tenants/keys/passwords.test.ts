/** Hashing passwords: what it gives, and how many hashes are computed at once. */
import crypto from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createSessions } from '../../../runtime/dashboard/sign-in/sessions.ts'
import { createSignIn } from '../../../runtime/dashboard/sign-in/sign-in.ts'
import {
  hashPassword,
  MAX_HASHES,
  MAX_WAITING_HASHES,
  NO_PASSWORD,
  PasswordQueueFull,
  verifyPassword,
} from '../../../runtime/platform/passwords.ts'
import { createWrongCodes } from '../../../runtime/tenants/factors/wrong-codes.ts'
import { holdMachineClock, makeConfirmer } from '../../account/confirmers.ts'
import { makeTenant, startTestService } from '../../support/service.ts'

/** Hashes that were begun and have not ended, and the largest number of them. */
const hashes = { running: 0, most: 0, held: undefined as (() => void)[] | undefined }

/** Its last argument is the callback. */
type HashFunction = (...given: unknown[]) => void

const counted =
  (hash: HashFunction) =>
  (...given: unknown[]) => {
    const done = given.pop() as (...results: unknown[]) => void
    const end = () => {
      hashes.running -= 1
    }
    hashes.running += 1
    hashes.most = Math.max(hashes.most, hashes.running)
    const begin = () => {
      try {
        hash(...given, (...results: unknown[]) => {
          end()
          done(...results)
        })
      } catch (error) {
        end()
        throw error
      }
    }
    if (hashes.held) hashes.held.push(begin)
    else begin()
  }

// Other files of the same worker have loaded the module already, so its functions are replaced where it takes them from.
const { argon2, scrypt } = crypto
beforeAll(() => {
  Object.assign(crypto, { argon2: counted(argon2 as HashFunction), scrypt: counted(scrypt as HashFunction) })
  syncBuiltinESMExports()
})
afterAll(() => {
  Object.assign(crypto, { argon2, scrypt })
  syncBuiltinESMExports()
})

beforeEach(() => {
  hashes.most = 0
})

/** Keeps hashes from ending until the returned function is called. */
function holdHashes(): () => void {
  hashes.held = []
  const release = () => {
    const begins = hashes.held ?? []
    hashes.held = undefined
    for (const begin of begins) begin()
  }
  onTestFinished(release)
  return release
}

/** As many verifications as run and wait at most. */
const fillQueue = () =>
  Promise.all(Array.from({ length: MAX_HASHES + MAX_WAITING_HASHES }, () => verifyPassword('x', CHEAP)))

/** A hash that is verified quickly. */
const CHEAP = `$scrypt$ln=10,r=8,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

describe('passwords', () => {
  test('verify against their hash only', async () => {
    const hash = await hashPassword('correct horse')
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await verifyPassword('correct horse', hash)).toBe(true)
    expect(await verifyPassword('wrong horse', hash)).toBe(false)
    expect(await verifyPassword('correct horse', 'plain text')).toBe(false)
  })

  test('no password fits the hash of an unknown member', async () => {
    expect(await verifyPassword('', NO_PASSWORD)).toBe(false)
    expect(NO_PASSWORD).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  })
})

describe('the queue', () => {
  test('the queue of 200 concurrent sign-ins computes 2 hashes at a time and refuses those that find no room', async () => {
    const answers = await Promise.allSettled(Array.from({ length: 200 }, () => verifyPassword('x', CHEAP)))
    const refused = answers.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    expect([hashes.most, hashes.running, refused.length]).toEqual([
      2,
      0,
      200 - MAX_HASHES - MAX_WAITING_HASHES,
    ])
    for (const { reason } of refused) expect(reason).toBeInstanceOf(PasswordQueueFull)
    expect(await fillQueue()).toHaveLength(102)
  })

  test('the queue of hashes gives its place back when a hash fails', async () => {
    const impossible = CHEAP.replace('ln=10', 'ln=0')
    for (let tried = 0; tried < MAX_HASHES + 1; tried += 1) {
      await expect(verifyPassword('x', impossible)).rejects.toThrow()
    }
    expect(await verifyPassword('x', CHEAP)).toBe(false)
  })

  test('the queue of hashes refuses a sign-in with 503 when it is full, and the try does not count as a wrong code', async () => {
    const service = await startTestService()
    onTestFinished(() => service.stop())
    const machine = holdMachineClock(service)
    machine.toNewCodes()
    const ada = await makeConfirmer(service, machine, await makeTenant(service))
    const { control, pepper } = service.database
    const parts = {
      control,
      pepper,
      clock: service.clock,
      csrfKey: 'key',
      consoleUrl: 'http://console.example',
    }
    const app = express().use(
      createSignIn({
        ...parts,
        wrongCodes: createWrongCodes(control, service.clock, () => {}),
        sessions: createSessions({ ...parts, secure: false }),
        proxies: 0,
        log: pino({ level: 'silent' }),
      }),
    )
    const server = createServer(app)
    onTestFinished(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign-in`
    const page = await fetch(url)
    const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page.text()) ?? []
    const body = new URLSearchParams({ csrf, email: ada.email, password: ada.password, code: ada.code() })
    const send = () => fetch(url, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })

    const release = holdHashes()
    const queue = fillQueue()
    // More than the wrong codes after which a member is paused.
    for (let tried = 0; tried < 11; tried += 1) {
      const { status, headers } = await send()
      expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    }
    release()
    await queue
    expect((await send()).status).toBe(303)
  })
})
