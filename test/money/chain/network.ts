/** A chain for tests: anvil, with the contract on it, and a worker of one's own. */

import { pino } from 'pino'
import type { Address } from 'viem'
import { type Anvil, startAnvil } from '../../../runtime/money/chain/anvil.ts'
import { connect } from '../../../runtime/money/chain/connect.ts'
import { DEPLOYMENT } from '../../../runtime/money/chain/contract/deployment.ts'
import { TEST_CHAIN_ID, TEST_KEY } from '../../../runtime/money/chain/own-chain.ts'
import type { PaymentLimits } from '../../../runtime/money/chain/round-parts.ts'
import { createRpc, type Rpc } from '../../../runtime/money/chain/rpc.ts'
import { checked, createKeySigner } from '../../../runtime/money/chain/signer.ts'
import { balanceCall, mintCall } from '../../../runtime/money/chain/token.ts'
import {
  enqueueTransfer,
  type OpenListener,
  type TransferChange,
} from '../../../runtime/money/chain/transfers.ts'
import {
  type ChainWorker,
  type ChainWorkerOptions,
  createChainWorker,
} from '../../../runtime/money/chain/worker.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import type { TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'
import { LIMITS } from './limits.ts'

/** Anvil's third account deploys, the first pays. */
const DEPLOYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

export const KEY: string = TEST_KEY
export const PAYER = createKeySigner(KEY).address

/** The call of EIP-3009's `authorizationState`, which is made before a payment is told as paid. */
export const IS_USED = '0xe94a0102'

/** Somebody who has nothing yet. */
export function someAddress(number: number): Address {
  return createKeySigner(`0x${number.toString(16).padStart(64, '0')}`).address
}

export interface Network {
  readonly anvil: Anvil
  readonly rpc: Rpc
  readonly token: Address
  balanceOf(address: Address): Promise<bigint>
  /** One transaction of the deployer's, or of another account's. */
  send(transaction: object): Promise<void>
  stop(): Promise<void>
}

interface Receipt {
  readonly status: string
  readonly contractAddress: Address
}

/** A chain with the contract and a payer who has a billion. */
export async function startNetwork(): Promise<Network> {
  const anvil = await startAnvil(TEST_CHAIN_ID)
  const rpc = createRpc(anvil.url)
  const send = async (transaction: object) => {
    const hash = await rpc.ask<string>('eth_sendTransaction', { from: DEPLOYER, ...transaction })
    // Anvil answers before it has mined the block.
    const { status, contractAddress } = await until('the receipt', async () => {
      return (await rpc.ask<Receipt | null>('eth_getTransactionReceipt', hash)) ?? undefined
    })
    if (status !== '0x1') throw new Error(`${JSON.stringify(transaction).slice(0, 100)} failed`)
    return contractAddress
  }
  const token = await send({ data: DEPLOYMENT })
  await send({ to: token, data: mintCall(PAYER, 10n ** 15n) })
  return {
    anvil,
    rpc,
    token,
    send: async (transaction) => {
      await send(transaction)
    },
    balanceOf: async (address) =>
      BigInt(await rpc.ask<string>('eth_call', { to: token, data: balanceCall(address) }, 'latest')),
    stop: anvil.stop,
  }
}

/** What a listener was told, in order. */
export interface Heard {
  readonly id: string
  readonly change: TransferChange
}

export interface TestWorker extends ChainWorker {
  readonly heard: Heard[]
  /** Looks until it was told so of all of them; mines a block before each look. */
  pay(ids: readonly string[], state?: TransferChange['state']): Promise<void>
}

/** A worker as the service starts it. */
export function makeWorker(
  database: TestDatabase,
  network: Pick<Network, 'rpc' | 'token'>,
  options: Partial<Omit<ChainWorkerOptions, 'limits'>> & {
    readonly limits?: Partial<PaymentLimits>
    readonly url?: string
    readonly signable?: (id: string) => boolean
  } = {},
): TestWorker {
  const heard: Heard[] = []
  const openListener: OpenListener = async () => ({
    signable: async (_db, id) => options.signable?.(id) ?? true,
    changed: async (_db, id, change) => {
      heard.push({ id, change })
    },
  })
  const worker = createChainWorker({
    chainId: TEST_CHAIN_ID,
    environments: ['sandbox'],
    control: database.control,
    pools: database,
    openListener,
    clock: database.clock,
    openSigner: async () => checked(createKeySigner(KEY)),
    openLink: async () => ({
      chain: await connect(
        options.url === undefined ? network.rpc : createRpc(options.url, 1000),
        TEST_CHAIN_ID,
        network.token,
      ),
      isCurrent: async () => true,
      stop: async () => {},
    }),
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    leaseMs: 1000,
    ...options,
    limits: { ...LIMITS, ...options.limits },
  })
  const pay = async (ids: readonly string[], state: TransferChange['state'] = 'paid') => {
    const deadline = performance.now() + 20_000
    const isTold = (id: string) => heard.some((each) => each.id === id && each.change.state === state)
    while (!ids.every(isTold)) {
      if (performance.now() > deadline) throw new Error(`not ${state}: ${JSON.stringify(heard)}`)
      await worker.look()
      await network.rpc.ask('evm_mine')
    }
  }
  return { ...worker, heard, pay }
}

/** Hands a transfer in for a tenant. Gives its identifier. */
export async function enqueueOne(
  database: TestDatabase,
  to: string,
  amountCents: number,
  space = 'ten_test',
): Promise<string> {
  const id = newId('po')
  const transfer = { id, to: to.startsWith('eip155:') ? to : `eip155:${TEST_CHAIN_ID}:${to}`, amountCents }
  await database.sandbox.transaction(async (db) => enqueueTransfer(db, space, transfer, Date.now()))
  return id
}
