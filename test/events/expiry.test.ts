/** Passes expire when their time is over, and that is told once. */
import { expect, test } from 'vitest'
import { passExpiryWorker } from '../../runtime/passes/passes/expiry-job.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { issuePass, makeTemplate, speakFor } from '../api/fixtures.ts'
import { checkEvent } from '../support/contract.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'

const service = useService({ keepsTime: true })

const expire = () =>
  passExpiryWorker({
    database: service.database,
    clock: service.clock,
    baseUrls: { ...service.urls, console: '' },
    passTokens: openPassTokens(service.database.pepper),
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()

async function tenant(version = '2026-05-19') {
  const id = await makeTenant(service, 'enterprise', version)
  const send = await speakFor(service, id)
  const templateId = await makeTemplate(send)
  const issue = (ms: number) =>
    issuePass(send, templateId, { expires_at: new Date(service.clock.now + ms).toISOString() })
  const told = async () => (await send('/v1/events?type=pass.expired')).body.data
  return { id, send, issue, told }
}

test.each(['2025-06-01', '2026-05-19'])(
  'a pass expires in %s when the time has come and not before, once however many look',
  async (version) => {
    const { id, send, issue, told } = await tenant(version)
    const [first, second] = [await issue(60_000), await issue(120_000)]
    service.clock.now += 59_999
    await expire()
    expect(await told()).toEqual([])
    service.clock.now += 1
    await Promise.all([expire(), expire(), expire()])
    const [event, ...others] = await told()
    expect(others).toEqual([])
    expect(checkEvent(event)).toEqual([])
    expect(event.data.pass).toEqual({
      ...first,
      status: 'expired',
      updated: first.expires_at,
    })
    expect((await send(`/v1/passes/${first.id}`)).body).toEqual(event.data.pass)
    expect((await send(`/v1/passes/${second.id}`)).body.status).toBe('issued')
    const admin = speak(service.urls.sandbox, {
      secret: (await makeKey(service, id, { scope: 'admin' })).secret,
    })
    const log = (await admin(`/v1/audit_log?target_id=${first.id}&action=pass.expired`)).body.data
    expect(log.map(({ action, actor }: { action: string; actor: object }) => [action, actor])).toEqual([
      ['pass.expired', { type: 'system', id: null }],
    ])
    await verifyAudit(service.operator, id, 'sandbox')
  },
)

test('a pass that was revoked before does not expire', async () => {
  const { send, issue, told } = await tenant()
  const { id } = await issue(60_000)
  await send(`/v1/passes/${id}/revoke`, { body: {} })
  service.clock.now += 60_000
  await expire()
  expect(await told()).toEqual([])
})

test('passes that do not fit into one look expire in the next', async () => {
  const { send, told } = await tenant()
  const templateId = await makeTemplate(send)
  const expires_at = new Date(service.clock.now + 60_000).toISOString()
  const passes = Array(100).fill({ template_id: templateId, expires_at })
  for (let count = 0; count < 6; count += 1) await send('/v1/passes/batch', { body: { passes } })
  service.clock.now += 60_000
  await expire()
  expect((await send('/v1/passes/count?status=expired')).body.count).toBe(600)
  const { rows } = await service.database.control.query(
    {
      text: `SELECT DISTINCT body::json->'data'->'pass'->>'id' FROM sandbox.events WHERE type = 'pass.expired' AND created = $1`,
    },
    [new Date(service.clock.now).toISOString()],
  )
  expect(rows).toHaveLength(600)
  expect((await told()).length).toBe(25)
})
