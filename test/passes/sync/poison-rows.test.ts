/** A row that cannot be sent to a wallet does not keep others from being sent. */
import { expect, test } from 'vitest'
import { listSetAside, retrySetAside } from '../../../runtime/operator/set-aside.ts'
import { until } from '../../support/programs.ts'
import type { Send, TestService } from '../../support/service.ts'
import { openWalletStage } from './apple-stage.ts'
import { openGoogleStage } from './google-stage.ts'

const setAsideOf = async (service: TestService, work: string) =>
  (await listSetAside(service.operator, { work })).set_aside.map(({ subject_id }) => subject_id)

test('Apple: tenants whose devices cannot be told do not keep those of others from being told', async () => {
  const stage = await openWalletStage()
  try {
    const { database } = stage.service
    const query = (text: string) => database.control.query({ text })
    // More tenants than are visited at once.
    const tenants = await Promise.all(Array.from({ length: 6 }, () => stage.tenant()))
    const good = await stage.tenant()
    const holders = await Promise.all(
      [...tenants, good].map(async (tenant) => {
        const passId = await tenant.issue()
        const phone = stage.phone()
        expect(await phone.add(tenant.id, passId)).toBe(201)
        return { tenant, passId, phone }
      }),
    )
    await query(`CREATE FUNCTION sandbox.poison() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'the row is poisoned'; END $$`)
    await query(`CREATE TRIGGER poison BEFORE UPDATE OR DELETE ON sandbox.wallet_changes FOR EACH ROW
      WHEN (OLD.tenant_id <> '${good.id}') EXECUTE FUNCTION sandbox.poison()`)
    for (const { tenant, passId } of holders) {
      const change = { method: 'PATCH', body: { fields: { points: '7' } } }
      expect((await tenant.send(`/v1/passes/${passId}`, change)).status).toBe(200)
    }
    stage.work()
    const isPushed = (at: number) =>
      stage.push.pushes.some(({ token }) => token === holders.at(at)!.phone.pushToken)
    await until('the push of the other tenant', () => isPushed(-1))
    await until('all to be set aside', async () => {
      return (await setAsideOf(stage.service, 'apple_pushes')).length === tenants.length
    })

    await query('DROP FUNCTION sandbox.poison CASCADE')
    expect(await retrySetAside(stage.service.operator, { work: 'apple_pushes' })).toEqual({ retried: 6 })
    await until('the other pushes', () => tenants.every((_, at) => isPushed(at)))
    await until('none to be set aside', async () => {
      return (await setAsideOf(stage.service, 'apple_pushes')).length === 0
    })
  } finally {
    await stage.close()
  }
})

test('Google: a template that cannot be shown does not hold up its tenant’s others', async () => {
  const stage = await openGoogleStage()
  try {
    const { database, operator } = stage.service
    const { tenantId, send } = await stage.addTenant()
    const make = async (say: Send, path: string, body: object): Promise<string> =>
      (await say(path, { body })).body.id
    const fields = [{ key: 'points', label: 'Points', value: '0' }]
    const brand = { background_color: '#1E3A5F', foreground_color: '#FFFFFF' }
    const template = { name: 'Coffee', kind: 'loyalty', brand, fields }
    const bad = await make(send, '/v1/pass_templates', template)
    const badPass = await make(send, '/v1/passes', { template_id: bad })
    const good = await make(send, '/v1/pass_templates', template)
    const goodPass = await make(send, '/v1/passes', { template_id: good })
    const misfit = await make(send, '/v1/pass_templates', template)
    const write = (id: string, column: 'fields' | 'brand', value: unknown) =>
      database.control.query({ text: `UPDATE sandbox.pass_templates SET ${column} = $2 WHERE id = $1` }, [
        id,
        JSON.stringify(value),
      ])
    await write(bad, 'fields', [null])
    await write(misfit, 'brand', { ...brand, background_color: 'red' })
    stage.follow()
    await until('the other pass', () => stage.at('loyalty', goodPass))
    await until('the end of the events', async () => (await stage.cursor(tenantId))?.token === null)
    expect((await setAsideOf(stage.service, 'google_wallet')).sort()).toEqual([badPass, bad, misfit].sort())
    const { set_aside } = await listSetAside(operator, { work: 'google_wallet' })
    expect(set_aside.find(({ subject_id }) => subject_id === misfit)?.reason).toBe(
      'The service did not send a loyaltyClass to Google Wallet: hexBackgroundColor does not fit google-keys.json.',
    )
    expect(stage.at('loyalty', badPass)).toBeUndefined()

    await write(bad, 'fields', fields)
    await write(misfit, 'brand', brand)
    expect(await retrySetAside(operator, { work: 'google_wallet' })).toEqual({ retried: 3 })
    await until('its own pass', () => stage.at('loyalty', badPass))
    await until('none to be set aside', async () => {
      return (await setAsideOf(stage.service, 'google_wallet')).length === 0
    })
  } finally {
    await stage.close()
  }
})
