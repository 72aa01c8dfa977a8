/** Guessing second factors: counted for each key, session and member apart, on all nodes together. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { recognize } from '../../runtime/dashboard/sign-in/credentials.ts'
import { confirm as confirmAs } from '../../runtime/dashboard/sign-in/own-credentials.ts'
import { createPool, type MeasuredPool } from '../../runtime/database/pool/pool.ts'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import {
  type CodeSender,
  type CountedCode,
  createWrongCodes,
  type PausedSender,
  type WrongCodes,
} from '../../runtime/tenants/factors/wrong-codes.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import {
  type Confirmer,
  holdMachineClock,
  type MachineClock,
  makeConfirmer,
  openForm,
  serveChallenges,
} from './confirmers.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const service = useService({ watched: true })
let machine: MachineClock
let console: { readonly origin: string; close(): void }
let otherNode: MeasuredPool
let tenantId: string
let key: { readonly id: string; readonly secret: string }
let owner: Confirmer

beforeAll(async () => {
  machine = holdMachineClock(service)
  console = await serveChallenges(service)
  otherNode = createPool({
    connection: () => ({ connectionString: service.database.url }),
    max: 4,
    prepared: true,
    applicationName: 'another node',
  })
})
afterAll(async () => {
  console.close()
  await otherNode.end()
})
beforeEach(async () => {
  machine.toNewCodes()
  tenantId = await makeTenant(service, 'standard')
  key = await makeKey(service, tenantId, { scope: 'admin' })
  owner = await makeConfirmer(service, machine, tenantId)
})

const send = (secret = key.secret) => speak(service.urls.sandbox, { secret })

const change = (code?: string, secret?: string) =>
  send(secret)('/v1/account/billing', {
    method: 'PATCH',
    body: { billing_email: 'a@example.com' },
    headers: { 'Service-Factor': code ?? null },
  })

/** A page that a request opens, filled in. */
const confirm = async (fields: Partial<Record<'email' | 'password' | 'code', string>>) => {
  const url = String((await change()).body.error.challenge_url)
  const form = await openForm(console.origin + new URL(url).pathname)
  return form.send({ email: owner.email, password: owner.password, code: owner.code(), ...fields })
}

/** Nobody's, around now. */
const wrong = () => String((Number(owner.code()) + 7) % 1_000_000).padStart(6, '0')

const pauses = async () =>
  (await send()('/v1/audit_log?action=factor.paused&order=asc')).body.data as readonly object[]

describe('ten wrong codes of a key', () => {
  test('ten wrong codes pause the key, whichever way each came: header, pages, wrong passwords', async () => {
    for (let tried = 0; tried < 4; tried += 1) expect((await change(wrong())).status).toBe(403)
    for (let tried = 0; tried < 3; tried += 1) expect((await confirm({ code: wrong() })).status).toBe(403)
    for (let tried = 0; tried < 3; tried += 1) expect((await confirm({ password: 'x' })).status).toBe(403)
    expect((await change(owner.code())).status).toBe(403)
    expect((await confirm({})).status).toBe(403)
    machine.now += 15 * MINUTE - 1
    expect([(await change(owner.code())).status, (await confirm({})).status]).toEqual([403, 403])
    machine.now += 1
    expect((await confirm({})).status).toBe(200)
    expect((await change(owner.code(1))).status).toBe(200)
  })

  test('ten wrong codes of a key are told once in both logs and to the operators', async () => {
    for (let tried = 0; tried < 12; tried += 1) await change(wrong())
    const entry = {
      environment: null,
      actor: { type: 'key', id: key.id },
      target_id: key.id,
      ip: '127.0.0.1',
      request_id: expect.stringMatching(/^req_/),
    }
    expect(await pauses()).toMatchObject([entry])
    const live = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
    const there = await speak(service.urls.live, { secret: live.secret })(
      '/v1/audit_log?action=factor.paused',
    )
    expect(there.body.data).toMatchObject([entry])
    await verifyAudit(service.operator, tenantId, 'sandbox')
  })

  test('ten wrong codes on pages alone are told as well, with the named member and the address', async () => {
    for (let tried = 0; tried < 9; tried += 1) await confirm({ code: wrong() })
    await confirm({ password: 'x' })
    expect(await pauses()).toMatchObject([
      { actor: { type: 'member', id: null }, target_id: key.id, ip: '127.0.0.1', request_id: null },
    ])
  })

  test('ten wrong codes of a key are forgotten with a right one on a page', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (let tried = 0; tried < 9; tried += 1) expect((await confirm({ code: wrong() })).status).toBe(403)
      expect((await confirm({})).status).toBe(200)
      machine.toNewCodes()
    }
  })

  test('ten wrong codes on fresh pages are still ten', async () => {
    let [completed, refused] = [0, 0]
    for (let tried = 0; tried < 15; tried += 1) {
      const { status } = await confirm(tried < 10 ? { code: wrong() } : {})
      if (status === 200) completed += 1
      else refused += 1
    }
    expect([completed, refused]).toEqual([0, 15])
  })

  test('leave another key of the same account alone', async () => {
    const other = await makeKey(service, tenantId, { scope: 'admin' })
    for (let tried = 0; tried < 10; tried += 1) await change(wrong())
    expect((await change(owner.code())).status).toBe(403)
    expect((await change(owner.code(), other.secret)).status).toBe(200)
  })

  test('leave the member whose codes were guessed to sign in, and the pages of the console to work', async () => {
    for (let tried = 0; tried < 10; tried += 1) await change(wrong())
    for (let tried = 0; tried < 10; tried += 1) await confirm({ password: 'x' })
    const { email, password } = owner
    const { operator } = service
    const wrongCodes = createWrongCodes(operator.control, service.clock, () => {})
    const signedIn = await recognize(
      { ...operator, clock: service.clock, wrongCodes },
      { email, password, code: owner.code(), ip: '127.0.0.1' },
    )
    expect(signedIn).toMatchObject({ right: true, member: { id: owner.id } })
    expect(await confirmForm(wrongCodes, Buffer.from('a session'), owner.code(1))).toBe(true)
    expect(await pauses()).toMatchObject([{ target_id: key.id }])
  })

  test('ten wrong codes of a session pause the session alone, and the log names its member', async () => {
    const wrongCodes = createWrongCodes(service.database.control, service.clock, () => {})
    const [stolen, other] = [Buffer.from('stolen'), Buffer.from('other')]
    for (let tried = 0; tried < 10; tried += 1) await confirmForm(wrongCodes, stolen, wrong())
    expect(await confirmForm(wrongCodes, stolen, owner.code())).toBe(false)
    expect(await confirmForm(wrongCodes, other, owner.code())).toBe(true)
    expect((await change(owner.code(1))).status).toBe(200)
    expect(await pauses()).toMatchObject([{ target_id: owner.id, actor: { type: 'member', id: owner.id } }])
  })

  const confirmForm = (wrongCodes: WrongCodes, session: Buffer, code: string) =>
    confirmAs(
      { operator: { ...service.operator, clock: service.clock }, wrongCodes },
      { tenantId, memberId: owner.id, ip: '127.0.0.1', session },
      { code, formHash: session },
    )

  test('count for a quarter of an hour each, wherever it begins', async () => {
    for (let tried = 0; tried < 5; tried += 1) await change(wrong())
    machine.now += 8 * MINUTE
    for (let tried = 0; tried < 4; tried += 1) await change(wrong())
    machine.now += 7 * MINUTE
    for (let tried = 0; tried < 5; tried += 1) await change(wrong())
    expect((await pauses()).length).toBe(0)
    await change(wrong())
    expect((await pauses()).length).toBe(1)
  })
})

describe('the count', () => {
  const nodes = (paused: (sender: PausedSender) => void = () => {}) =>
    [service.database.control, otherNode].map((pool) => createWrongCodes(pool, service.clock, paused))

  const sender = (): CodeSender => ({ kind: 'member', id: owner.id })

  const ORIGIN = { actorType: 'key', actorId: 'key_1', requestId: null, ip: '127.0.0.1' } as const

  test('the count of wrong codes is exact: of 50 codes at once on two nodes ten are looked at, and one pause begins', async () => {
    const told: PausedSender[] = []
    const [here, there] = nodes((paused) => told.push(paused))
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, async (_, at) => {
        const code = await (at % 2 === 0 ? here! : there!).admit(tenantId, sender())
        await code.wrong(ORIGIN)
        return code.isAdmitted
      }),
    )
    expect(outcomes.filter((isAdmitted) => isAdmitted)).toHaveLength(10)
    expect(told).toEqual([{ tenantId, kind: 'member', id: owner.id, until: machine.now + 15 * MINUTE }])
    expect((await pauses()).length).toBe(1)
  })

  test('the count of wrong codes begins one pause, however many wrong codes wait for it', async () => {
    const told: PausedSender[] = []
    const [here, there] = nodes((paused) => told.push(paused))
    const codes: CountedCode[] = []
    let settled: Promise<void>[] = []
    for (let tried = 0; tried < 10; tried += 1) codes.push(await here!.admit(tenantId, sender()))
    const last = await there!.admit(tenantId, sender())
    expect(last.isAdmitted).toBe(false)
    await service.database.control.transaction(async (tx) => {
      const text = 'SELECT FROM control.wrong_codes WHERE tenant_id = $1 FOR UPDATE'
      await tx.query({ text }, [tenantId])
      settled = codes.slice(0, 3).map((code) => code.wrong(ORIGIN))
      await expect.poll(waiting, { interval: 10, timeout: 10_000 }).toBe(3)
    })
    await Promise.all(settled)
    expect(told).toHaveLength(1)
  })

  /** Statements of this database that wait for a lock. */
  const waiting = async () => {
    const text = `SELECT count(*)::integer AS count FROM pg_stat_activity
                  WHERE datname = current_database() AND wait_event_type = 'Lock'`
    return (await otherNode.query<{ count: number }>({ text })).rows[0]!.count
  }

  test('the count of wrong codes has pauses that double up to a day, and begins again after a day without one or after a right code', async () => {
    const lengths: number[] = []
    const [node] = nodes(({ until }) => {
      lengths.push((until - machine.now) / MINUTE)
    })
    const pauseOnce = async () => {
      for (let tried = 0; tried < 10; tried += 1) await (await node!.admit(tenantId, sender())).wrong(ORIGIN)
      machine.now += lengths.at(-1)! * MINUTE
    }
    for (let count = 0; count < 9; count += 1) await pauseOnce()
    expect(lengths).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440])
    machine.now += DAY
    await pauseOnce()
    expect(lengths.at(-1)).toBe(15)
    await pauseOnce()
    expect(lengths.at(-1)).toBe(30)
    await (await node!.admit(tenantId, sender())).right()
    await pauseOnce()
    expect(lengths.at(-1)).toBe(15)
  })

  test('the count of wrong codes is not raised by codes that were no try, however many in how short a time', async () => {
    const [node] = nodes()
    for (let used = 0; used < 12; used += 1) await (await node!.admit(tenantId, sender())).takeBack()
    expect((await node!.admit(tenantId, sender())).isAdmitted).toBe(true)
  })

  test('the count of wrong codes is swept when it means nothing any more', async () => {
    await change(wrong())
    const rows = async () => {
      const text = 'SELECT member_id FROM control.wrong_codes WHERE tenant_id = $1'
      return (await service.database.control.query({ text }, [tenantId])).count
    }
    await sweep(service.database, service.clock)
    expect(await rows()).toBe(1)
    machine.now += 2 * DAY
    await sweep(service.database, service.clock)
    expect(await rows()).toBe(0)
  })
})

test('a key that opens many pages closes none of another key', async () => {
  const other = await makeKey(service, tenantId, { scope: 'admin' })
  const url = String((await change(undefined, other.secret)).body.error.challenge_url)
  await Promise.all(Array.from({ length: 40 }, () => change()))
  const page = await openForm(console.origin + new URL(url).pathname)
  expect(page.page.status).toBe(200)
  const text = 'SELECT digest FROM control.challenges WHERE tenant_id = $1 AND key_id = $2'
  const { count } = await service.database.control.query({ text }, [tenantId, key.id])
  expect(count).toBeLessThanOrEqual(40)
  await change()
  await change()
  expect((await service.database.control.query({ text }, [tenantId, key.id])).count).toBe(21)
})

test('pages that a key opens do not cost it the factor that a member has confirmed', async () => {
  const url = String((await change()).body.error.challenge_url)
  const form = await openForm(console.origin + new URL(url).pathname)
  const { email, password } = owner
  const { factor } = await form.send({ email, password, code: owner.code() })
  machine.now += 1000
  for (let asked = 0; asked < 22; asked += 1) await change()
  expect((await change(factor)).status).toBe(200)
})
