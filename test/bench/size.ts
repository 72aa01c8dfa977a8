/**
 * `npm run bench:size`: every list, filter, order and count of a tenant with millions of passes beside those of one with a
 * thousand, in one database, through the service’s own pools and statements. Prints what each takes in both, the ratio of
 * the lower quartiles (whatever else the machine does stands above them), and how many pages of the database it touches for
 * each row that it gives.
 *
 * Options: --rows N (3000000, passes of the large tenant; a third as many events, attempts, audit entries and answers),
 * --tenants N (2000, of a thousand passes each), --others N (the other tables have
 * a share of this number of rows; default: the passes), --rounds N (40), --only TEXT (of operations or tables whose name holds it),
 * --bytes (instead prints what a row of each large table takes on disk, in tables of N rows).
 */
import { parseArgs } from 'node:util'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { fillCrowd } from '../isolation/crowd.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import { withScratch } from './scratch.ts'
import { measureBytes } from './size-bytes.ts'
import { compareSizes } from './size-table.ts'
import { print } from './webhooks-figures.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '3000000' },
    tenants: { type: 'string', default: '2000' },
    others: { type: 'string' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string', default: '' },
    bytes: { type: 'boolean', default: false },
  },
})

const EACH = 1000

/** What a server of this size would have in production; the load itself need not survive anything. */
const PARAMETERS = {
  shared_buffers: '2GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  synchronous_commit: 'off',
  // What is loaded refers to what is loaded: no look at each row.
  session_replication_role: 'replica',
}

async function run(databaseUrl: string): Promise<void> {
  const database = await openDatabase({
    databaseUrl,
    pepper: BENCH_PEPPER,
    dataDir: '.',
    poolSize: 10,
    preparedStatements: true,
  })
  try {
    const [rows, tenants] = [Number(options.rows), Number(options.tenants)]
    print(`${rows} passes of one tenant, ${EACH} of each of ${tenants} others`)
    const began = performance.now()
    const now = Date.now()
    const sizes = { rows, tenants, each: EACH, others: Number(options.others ?? rows) }
    const crowds = await fillCrowd(database.control, 'ten_large', now - (rows + 1) * 1000, sizes)
    print(`loaded in ${Math.round((performance.now() - began) / 1000)} s`)
    await compareSizes(database, crowds, now, { rounds: Number(options.rounds), only: options.only })
  } finally {
    await database.close()
  }
}

await withScratch(async (scratch) =>
  options.bytes
    ? measureBytes(scratch, Number(options.rows), options.only)
    : run(await startDatabase(scratch, PARAMETERS)),
)
