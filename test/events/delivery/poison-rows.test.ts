/** A row that cannot be signed, planned, claimed or queued does not keep the deliveries of others from being made. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newId } from '../../../runtime/platform/ids.ts'
import { until } from '../../support/programs.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openStage, type Stage } from './setup.ts'

let stage: Stage
let receiver: Receiver
beforeAll(async () => {
  stage = await openStage()
  receiver = await openReceiver()
  stage.work()
})
afterAll(async () => {
  await stage.close()
  await receiver.close()
})
beforeEach(() => query('DELETE FROM control.set_aside_work'))

const query = async <Row>(text: string, ...values: unknown[]) =>
  (await stage.database.control.query<Row>({ text }, values)).rows

const setAside = () =>
  query<{ subject_id: string; reason: string }>(
    `SELECT subject_id, reason FROM control.set_aside_work WHERE work = 'deliveries'`,
  )

/** Every change of such a row fails, until it is cured. */
async function poison(table: string, event: string, condition: string): Promise<() => Promise<unknown>> {
  await query(`CREATE FUNCTION sandbox.poison() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE 'the row is poisoned'; END $$`)
  await query(`CREATE TRIGGER poison BEFORE ${event} ON sandbox.${table} FOR EACH ROW
    WHEN (${condition}) EXECUTE FUNCTION sandbox.poison()`)
  return () => query('DROP FUNCTION sandbox.poison CASCADE')
}

const got = (path: string) => receiver.on(path).length

test('a secret that does not open fails the attempts of its endpoint, and tells the tenant what to do', async () => {
  const tenantId = newId('ten')
  const bad = await stage.addEndpoint(tenantId, `${receiver.url}/sealed`)
  await stage.addEndpoint(tenantId, `${receiver.url}/beside`)
  await query('UPDATE sandbox.webhook_endpoints SET secret = $2 WHERE id = $1', bad.id, Buffer.from('lost'))
  await stage.emit(tenantId)
  await until('the other endpoint', () => got('/beside') === 1)
  await until('the failure', async () => (await stage.attempts(bad))[0]?.status === 'failed')
  expect(got('/sealed')).toBe(0)
  expect(await stage.attempts(bad)).toMatchObject([
    {
      attempt: 1,
      error: "the request cannot be signed: rotate the endpoint's secret, then retry the attempt",
    },
    { attempt: 2, status: 'pending' },
  ])
  expect(await setAside()).toMatchObject([{ subject_id: bad.id }])

  const [attempt] = await stage.attempts(bad)
  await stage.rotate(bad)
  await query(`UPDATE sandbox.webhook_endpoints SET retired_secrets = '[]' WHERE id = $1`, bad.id)
  await stage.retry(tenantId, attempt!.id)
  await until('the retry', () => got('/sealed') === 1)
  await until('the row to be forgotten', async () => (await setAside()).length === 0)
})

test.each([
  ['planned', 'webhook_senders', 'UPDATE'],
  ['claimed', 'webhook_ready', 'INSERT OR UPDATE'],
])('a tenant whose deliveries cannot be %s does not delay the others', async (what, table, event) => {
  const tenants = Array.from({ length: 5 }, () => newId('ten'))
  const bad = tenants[2]!
  for (const tenantId of tenants) await stage.addEndpoint(tenantId, `${receiver.url}/${what}/${tenantId}`)
  const cure = await poison(table, event, `NEW.tenant_id = '${bad}'`)
  for (const tenantId of tenants) await stage.emit(tenantId)
  for (const worker of stage.workers) worker.wake()
  const others = tenants.filter((each) => each !== bad)
  await until('the others', () => others.every((each) => got(`/${what}/${each}`) === 1))
  await until('the row to be set aside', async () => (await setAside()).length === 1)
  expect(await setAside()).toEqual([{ subject_id: bad, reason: 'the row is poisoned' }])
  for (const tenantId of others) await stage.emit(tenantId)
  await until('more of the others', () => others.every((each) => got(`/${what}/${each}`) === 2))
  expect(got(`/${what}/${bad}`)).toBe(0)

  await cure()
  await query('UPDATE control.set_aside_work SET retry_at = now()') // as `admin set-aside retry` does
  await until('its own', () => got(`/${what}/${bad}`) === 1)
  await until('the row to be forgotten', async () => (await setAside()).length === 0)
})

test('an attempt that cannot be queued does not keep the attempts of others from coming due', async () => {
  const tenants = Array.from({ length: 3 }, () => newId('ten'))
  const bad = tenants[0]!
  for (const tenantId of tenants) await stage.addEndpoint(tenantId, `${receiver.url}/due/${tenantId}`)
  receiver.answer = ({ path }) => (path.startsWith('/due/') ? 500 : 200)
  for (const tenantId of tenants) await stage.emit(tenantId)
  await until('the first attempts', () => tenants.every((each) => got(`/due/${each}`) === 1))
  await Promise.all(tenants.map((each) => stage.drained(each)))
  receiver.answer = () => 200
  const cure = await poison('webhook_waiting', 'DELETE', `OLD.tenant_id = '${bad}'`)
  stage.clock.now += 6 * 60_000
  for (const worker of stage.workers) worker.wake()
  await until('the others', () => tenants.slice(1).every((each) => got(`/due/${each}`) === 2))
  await until('the row to be set aside', async () => (await setAside()).length === 1)
  expect(await setAside()).toEqual([{ subject_id: bad, reason: 'the row is poisoned' }])

  await cure()
  await query('UPDATE control.set_aside_work SET retry_at = now()')
  await until('its own', () => got(`/due/${bad}`) === 2)
})
