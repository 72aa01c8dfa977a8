/** How many cardholders a second a worker holds against a list, its database included. */
import { pino } from 'pino'
import { cardholderScreeningWorker } from '../../runtime/cards/cardholders/screening-job.ts'
import type { Matcher, Subject } from '../../runtime/cards/sanctions/matcher.ts'
import { type OpenDatabase, openDatabase } from '../../runtime/database/open/open-database.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import type { Scratch } from './scratch.ts'

const TENANT = `ten_${'0'.repeat(26)}`
const CHUNK = 5000

const FILL = `INSERT INTO sandbox.cardholders (tenant_id, id, type, name, date_of_birth, status, sanctions_status, metadata,
                                              created, updated)
  SELECT $1, 'chd_' || lpad(n.id, 26, '0'), 'individual', n.name, n.date_of_birth, 'active', 'clear', '{}', now(), now()
    FROM json_to_recordset($2) AS n (id text, name text, date_of_birth date)`

async function fill({ control }: OpenDatabase, cardholders: readonly Subject[]): Promise<void> {
  for (let from = 0; from < cardholders.length; from += CHUNK) {
    const rows = cardholders.slice(from, from + CHUNK).map((each, at) => ({ ...each, id: String(from + at) }))
    await control.query({ text: FILL }, [TENANT, JSON.stringify(rows)])
  }
  for (const text of [
    `INSERT INTO control.sanctions_lists (number, version, since) VALUES (1, 'bench', now())`,
    `INSERT INTO sandbox.screenings (tenant_id, list_number, look_at) VALUES ('${TENANT}', 0, 'epoch')`,
    'VACUUM (ANALYZE) sandbox.cardholders',
  ]) {
    await control.query({ text })
  }
}

/** Screens them all as one tenant's, in a database of the bench's own; `measure` is around the work alone. */
export async function runWorker<T>(
  scratch: Scratch,
  matcher: Matcher,
  cardholders: readonly Subject[],
  measure: (work: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({
    databaseUrl: await startDatabase(scratch),
    pepper: BENCH_PEPPER,
    dataDir: '.',
    poolSize: 4,
    preparedStatements: true,
  })
  try {
    await fill(database, cardholders)
    const list = { name: 'Bench', version: 'bench', number: 1, ...matcher }
    return await measure(() =>
      cardholderScreeningWorker({
        database,
        clock: { machine: Date.now, service: Date.now },
        sanctions: { list: () => list },
        log: pino({ level: 'warn' }, pino.destination(2)),
        wakeUpChannel: { publish: () => {} },
      }).runOnce(),
    )
  } finally {
    await database.close()
  }
}
