/** A report that cannot be made fails alone: the reports of other tenants are made in the same run. */
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reportWorker } from '../../runtime/money/reports/job.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { eventsOf, make } from '../cards/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService({ guarded: false, keepsTime: true })

async function openFunded(): Promise<{ readonly tenantId: string; readonly send: Send }> {
  const tenantId = await makeTenant(service, 'enterprise')
  const { secret } = await makeKey(service, tenantId)
  const send = speak(service.urls.sandbox, { secret, version: '2026-05-19' })
  await send('/v1/test/funding', { body: { amount: 1000 } })
  return { tenantId, send }
}

const at = (ms: number) => new Date(ms).toISOString()

const ask = (send: Send) =>
  make(send, '/v1/treasury_reports', {
    type: 'ledger_entries',
    interval_start: at(service.clock.now - 1000),
    interval_end: at(service.clock.now),
  })

/** Lines that were logged as errors. */
let logged: { treasury_report_id: string }[] = []

const makeAll = () =>
  reportWorker({
    database: service.database,
    clock: { machine: () => service.clock.now, service: () => service.clock.now },
    wakeUpChannel: { publish: service.wakeUps.notify },
    log: pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
    links: openReportLinks(service.database.pepper, service.urls),
  }).runOnce()

/** What is wrong with a report or with what it shows; $1 is the tenant. */
const POISON = [
  {
    about: 'an amount that is beyond the exact numbers',
    text: `UPDATE sandbox.ledger_entries SET amount = 9223372036854775807 WHERE tenant_id = $1 AND account_id = 'program_funds'`,
    code: 'inconsistent_records',
    told: ['treasury_report.failed'],
  },
  {
    about: 'a type that does not exist',
    text: `UPDATE sandbox.treasury_reports SET type = 'nonsense' WHERE tenant_id = $1`,
    told: ['treasury_report.failed'],
  },
  {
    about: 'positions that are no numbers',
    text: `INSERT INTO sandbox.ledger_checkpoints (tenant_id, at, positions) SELECT tenant_id, interval_end, '{"bank": {}}' FROM sandbox.treasury_reports WHERE tenant_id = $1`,
    told: ['treasury_report.failed'],
  },
  {
    about: 'tries beyond the type of their number',
    text: 'UPDATE sandbox.treasury_reports SET tries = 32767 WHERE tenant_id = $1',
    told: [],
  },
  {
    about: 'an interval that ends at no instant',
    text: `UPDATE sandbox.treasury_reports SET interval_end = 'infinity' WHERE tenant_id = $1`,
    told: [],
  },
] as const

test.each(POISON)('a report that cannot be made fails alone: $about', async ({ text, told, ...wrong }) => {
  const [poisoned, other] = [await openFunded(), await openFunded()]
  service.clock.now += 1
  const { id } = await ask(poisoned.send)
  const good = await ask(other.send)
  await service.database.control.query({ text }, [poisoned.tenantId])
  logged = []
  await makeAll()
  const code = 'code' in wrong ? wrong.code : 'processing_error'
  // The worker logs a fault of its own.
  const faults = new Set(logged.map((line) => line.treasury_report_id))
  expect([...faults]).toEqual(code === 'inconsistent_records' ? [] : [id])
  expect((await other.send(`/v1/treasury_reports/${good.id}`)).body.status).toBe('succeeded')
  const { rows } = await service.database.control.query(
    { text: 'SELECT status, failure_code FROM sandbox.treasury_reports WHERE tenant_id = $1 AND id = $2' },
    [poisoned.tenantId, id],
  )
  expect(rows).toEqual([{ status: 'failed', failure_code: code }])
  const events = (await eventsOf(poisoned.send)).filter((type) => type.startsWith('treasury_report'))
  expect(events).toEqual(told)
  const audit =
    'SELECT action FROM sandbox.audit_log WHERE tenant_id = $1 AND target_id = $2 AND actor_type = $3'
  const done = await service.database.control.query({ text: audit }, [poisoned.tenantId, id, 'system'])
  expect(done.rows).toEqual([{ action: 'treasury_report.failed' }])
  // The next run finds nothing to do.
  await makeAll()
})
