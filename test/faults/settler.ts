/** A process that does the work of a worker of the service once it is signalled to: settlements, low balances, backtests, copies of sandboxes, messages to holders, or the totals of each day. */

import { snapshotWorker } from '../../runtime/account/snapshots/job.ts'
import { totalsWorker } from '../../runtime/account/totals/job.ts'
import { openSanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { balanceAlertWorker } from '../../runtime/money/balance/alert-job.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { passMessageBatchWorker } from '../../runtime/passes/pass-messages/batch-job.ts'
import { passMessageWorker } from '../../runtime/passes/pass-messages/job.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { strictLog } from '../support/strict-log.ts'

const { TEST_DATABASE = '', TEST_PEPPER = '', TEST_NOW = '', TEST_WORKER } = process.env
const database = await openDatabase({
  ...{ databaseUrl: TEST_DATABASE, pepper: TEST_PEPPER, dataDir: '/nowhere' },
  ...{ poolSize: 2, preparedStatements: true },
})
const sanctions = await openSanctions(database.control, undefined, Date.now)
const endpointSecrets = createEndpointSecrets(createSeals(database.pepper), 'sandbox')
process.once('SIGUSR2', async () => {
  const clock = { machine: Date.now, service: () => Number(TEST_NOW) }
  const parts = {
    database,
    sanctions,
    clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
    endpointSecrets,
  }
  const workers = {
    totals: totalsWorker,
    alerts: balanceAlertWorker,
    backtests: backtestWorker,
    snapshots: snapshotWorker,
    batches: passMessageBatchWorker,
    messages: passMessageWorker,
    settlements: () => settlementWorker(parts),
  }
  const worker = workers[TEST_WORKER as keyof typeof workers](parts)
  await worker.runOnce()
  // A copy is restored once its snapshot is taken.
  if (TEST_WORKER === 'snapshots') await worker.runOnce()
  process.stdout.write('{"done":true}\n')
})
process.stdout.write('{"ready":true}\n')
setInterval(() => {}, 60_000)
