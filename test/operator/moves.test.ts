/** A tenant that leaves an installation with everything it has: by a move, and by an export that a different one imports. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { forgetTenant } from '../../runtime/operator/moves/arrival.ts'
import { exportTenant } from '../../runtime/operator/moves/export.ts'
import { importTenant } from '../../runtime/operator/moves/import.ts'
import { moveTenant } from '../../runtime/operator/moves/move.ts'
import { verifyAudit } from '../../runtime/tenants/admin/audit.ts'
import { change } from '../../runtime/tenants/admin/change.ts'
import { isSpaceWiped } from '../../runtime/tenants/audit/queries.ts'
import { fill, openSandbox, readSpace } from '../account/sandbox-contents.ts'
import { makeKey, makeTenant, speak, startTestService, useService } from '../support/service.ts'

const service = useService()

test('an account with a sandbox moves to a different installation, and returns in an export', async () => {
  const tenantId = await makeTenant(service, 'standard')
  const { secret: admin } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret: admin, version: current })
  const target = await startTestService()
  const folder = join(mkdtempSync(join(tmpdir(), 'svc-move-')), 'export')
  try {
    const one = await openSandbox(send, service.urls.sandbox)
    const { pass, card, use, key } = await fill(one.send)
    const details = (await one.send(`/v1/cards/${card.id}/details`)).body
    const [here, there] = [service, target].map(({ operator, database }) => ({ operator, database }))
    const before = await readSpace(service.database.control, `${tenantId}.s1`)
    await expect(exportTenant(here!, tenantId, exporting(folder, false))).resolves.toMatchObject({
      closed: false,
    })
    expect(leftOut(folder)).toEqual([])
    await expect(importTenant(there!, folder)).rejects.toThrow('the export has no secrets')
    rmSync(folder, { recursive: true })

    const moved = await moveTenant(here!, there!, tenantId, {
      hint: 'https://b.example',
      maxPauseMs: 20_000,
      say: () => {},
    })
    expect(moved.rows).toBeGreaterThan(20)
    service.forget()
    target.forget()
    const refused = await one.send('/v1/passes')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(refused.body.error.message).toBe(
      'The account has moved to https://b.example. Send requests there.',
    )
    // Also for writes that have passed the check before the move.
    const write = { tenantId, action: 'tenant.verified', targetId: tenantId }
    await expect(change(service.operator, async (_, note) => note(write))).rejects.toSatisfy(isSpaceWiped)

    const secret = one.secret
    const by = speak(target.urls.sandbox, { secret, version: current })
    const headers = { 'Idempotency-Key': key }
    const repeated = await by('/v1/passes', { body: { template_id: pass.template_id }, headers })
    expect(repeated.body.id).toBe(pass.id)
    expect((await by(`/v1/cards/${card.id}/details`)).body).toEqual(details)
    expect((await by('/v1/test/cards/simulate_authorization', { body: use })).body.status).toBe('authorized')
    await verifyAudit(target.operator, tenantId, 'sandbox')

    await exportTenant(there!, tenantId, exporting(folder, true))
    const again = moveTenant(there!, here!, tenantId, { maxPauseMs: 20_000, say: () => {} })
    await expect(again).rejects.toThrow('has left this installation for a different target')
    await importTenant(here!, folder)
    service.forget()
    target.forget()
    expect((await by('/v1/passes')).status).toBe(503)
    expect((await one.send(`/v1/cards/${card.id}/details`)).body).toEqual(details)
    await verifyAudit(service.operator, tenantId, 'sandbox')
    expect(Object.keys(await readSpace(service.database.control, `${tenantId}.s1`))).toEqual(
      Object.keys(before),
    )
    await expect(importTenant(here!, folder)).rejects.toThrow('already has the tenant')
    await expect(forgetTenant(service.operator, tenantId)).rejects.toThrow('has not moved away')
    await forgetTenant(target.operator, tenantId)
    const text = 'SELECT FROM sandbox.passes WHERE starts_with(tenant_id, $1)'
    expect((await target.database.control.query({ text }, [tenantId])).count).toBe(0)
  } finally {
    rmSync(dirname(folder), { recursive: true })
    await target.stop()
  }
})

const exporting = (folder: string, close: boolean) => ({ folder, close, sealed: close, maxPauseMs: 20_000 })

/** Files with sealed values, which begin with their format and are longer than a digest, or with a password hash. */
function leftOut(folder: string): string[] {
  return readdirSync(folder).filter((name) =>
    /"\\\\x01[0-9a-f]{100,}"|\$scrypt\$/.test(readFileSync(join(folder, name), 'utf8')),
  )
}
