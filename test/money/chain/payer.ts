/** A process that sends payments until it is killed: the worker as the service has it, with a listener that keeps nothing. */
import { pino } from 'pino'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { connect } from '../../../runtime/money/chain/connect.ts'
import { TEST_CHAIN_ID, TEST_KEY } from '../../../runtime/money/chain/own-chain.ts'
import { createRpc } from '../../../runtime/money/chain/rpc.ts'
import { checked, createKeySigner } from '../../../runtime/money/chain/signer.ts'
import { startChainWorker } from '../../../runtime/money/chain/start-worker.ts'
import { createClock } from '../../../runtime/tenants/clock/clock.ts'
import { LIMITS } from './limits.ts'

const { TEST_DATABASE = '', TEST_PEPPER = '', TEST_RPC = '', TEST_TOKEN = '' } = process.env
const database = await openDatabase({
  ...{ databaseUrl: TEST_DATABASE, pepper: TEST_PEPPER, dataDir: '/nowhere' },
  ...{ poolSize: 4, preparedStatements: true },
})
startChainWorker(
  {
    chainId: TEST_CHAIN_ID,
    environments: ['sandbox'],
    control: database.control,
    pools: database,
    openListener: async () => ({ signable: async () => true, changed: async () => {} }),
    clock: createClock(),
    openSigner: async () => checked(createKeySigner(TEST_KEY)),
    openLink: async () => ({
      chain: await connect(createRpc(TEST_RPC), TEST_CHAIN_ID, TEST_TOKEN as `0x${string}`),
      isCurrent: async () => true,
      stop: async () => {},
    }),
    limits: LIMITS,
    log: pino({ level: 'silent' }),
    leaseMs: 300,
  },
  20,
)
process.stdout.write('{"ready":true}\n')
setInterval(() => {}, 60_000)
