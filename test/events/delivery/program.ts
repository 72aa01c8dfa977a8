/** A worker in a process of its own, which halts for good where POINT says. Tests kill and stop it. */
import { pino } from 'pino'
import type { Database, RowResult, Statement } from '../../../runtime/database/database.ts'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import type { Pool } from '../../../runtime/database/pool/pool.ts'
import { createWorker } from '../../../runtime/events/delivery/worker.ts'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import { recoveryWorker } from '../../../runtime/events/webhook-recoveries/job.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createSeals } from '../../../runtime/platform/secrets.ts'

/** `claimed`: before anything is sent; `answered`: before it is written; `uncommitted`; `committed`: before it is heard. */
type Point = 'claimed' | 'answered' | 'uncommitted' | 'committed' | undefined

const { DATABASE_URL = '', SVC_PEPPER = '', LEASE_MS = '1500', SERVICE_NOW = '0' } = process.env
const point = process.env.POINT as Point

function tell(line: unknown): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

function halt(): Promise<never> {
  tell({ halted: point })
  return new Promise(() => {})
}

interface Sent {
  readonly statement: Statement
  readonly answer: Promise<RowResult<unknown>>
}

// On Citus, a claim or a success takes several statements for one tenant, not all of which have names.
const CLAIMS = new Set(['webhook_events_plan', 'webhook_ready_claim', 'webhook_ready_claim_of_one'])
const hasClaimed = async ({ statement: { name = '' }, answer }: Sent) => {
  if (name === 'webhook_ready_plan') return (await answer).count > 0
  if (!CLAIMS.has(name)) return false
  return (await answer).rows.some((row) => (row as { attempt_id: string | null }).attempt_id !== null)
}
const isSuccess = ({ name }: Statement) => name?.startsWith('webhook_attempts_succeed') ?? false
const beginsEnd = (statement: Statement) =>
  isSuccess(statement) || statement.text.startsWith('SELECT r.attempt_id FROM webhook_ready r JOIN unnest(')
const isEnd = (statement: Statement) =>
  isSuccess(statement) || statement.text.startsWith('DELETE FROM webhook_ready r USING unnest(')

/** The same pool, but for the point. A statement that is held back makes its COMMIT wait, which else follows at once. */
function halting(pool: Pool): Pool {
  const commitEarly: Pool['commitEarly'] = async (work) => {
    const sent: Sent[] = []
    let halted: Promise<never> | undefined
    const done = await pool.commitEarly(async (db) => {
      const watched: Database = {
        query: <Row>(statement: Statement, values?: readonly unknown[]): Promise<RowResult<Row>> => {
          if (point === 'answered' && beginsEnd(statement)) halted ??= halt()
          if (halted) return halted
          const answer = db.query<Row>(statement, values)
          sent.push({ statement, answer })
          return answer
        },
      }
      const result = await work(watched)
      const last = sent.at(-1)
      if (point === 'uncommitted' && last && isEnd(last.statement)) {
        await last.answer
        await halt()
      }
      return result
    })
    if (point === 'committed' && sent.some(({ statement }) => isEnd(statement))) await halt()
    if (point === 'claimed' && (await Promise.all(sent.map(hasClaimed))).includes(true)) await halt()
    return done
  }
  const transaction: Pool['transaction'] = async (work) => {
    const { value, flushed } = await commitEarly(work)
    await flushed()
    return value
  }
  return { ...pool, transaction, commitEarly }
}

const database = await openDatabase({
  databaseUrl: DATABASE_URL,
  pepper: SVC_PEPPER,
  dataDir: '/nowhere',
  poolSize: 4,
  preparedStatements: process.env.PREPARED !== 'off',
})
const log = pino({ level: 'warn' }, pino.destination(2))
const worker = createWorker({
  environment: 'sandbox',
  pool: halting(database.sandbox),
  control: database.control,
  clock: { machine: Date.now, service: () => Number(SERVICE_NOW) },
  outbound: createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) }),
  seals: createSeals(SVC_PEPPER),
  log,
  readPin: async () => '2026-05-19',
  leaseMs: Number(LEASE_MS),
  pollMs: 50,
})
// Recoveries are part of the same process, as in the service.
recoveryWorker({
  database,
  clock: { machine: Date.now, service: () => Number(SERVICE_NOW) },
  log,
  wakeUpChannel: { publish: () => {} },
}).start()
tell({ ready: true })
const watch = setInterval(() => {
  const { stale } = worker.stats().attempts
  if (stale === 0) return
  tell({ stale })
  clearInterval(watch)
}, 20)
