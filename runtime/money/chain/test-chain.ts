/**
 * The built-in test chain of the sandbox: anvil with a test contract like USDC. Its state is stored in the database, so that
 * any worker that holds the account can run it. The state is saved before a payment is reported as paid, so reported
 * payments survive a crash.
 */
import { type Address, type Hex, numberToHex } from 'viem'
import type { Database } from '../../database/database.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { locateChain, readRevision, readSavedChain, rememberChain, saveChain } from './chain-queries.ts'
import { type Chain, connect, identify } from './connect.ts'
import { DEPLOYMENT } from './contract/deployment.ts'
import { TEST_CHAIN_ID, TEST_USDC } from './own-chain.ts'
import { createRpc, type Rpc } from './rpc.ts'
import { pruneState } from './saved-state.ts'
import { mintCall } from './token.ts'

export interface TestChain {
  readonly chain: Chain
  readonly url: string
  /** Mines blocks, because there are no other miners. */
  mine(blocks: number): Promise<void>
  /** Saves the chain's state. Throws if another worker has saved in the meantime, which makes this chain stale. */
  save(): Promise<void>
  /**
   * Returns false if the chain must be opened again: another worker has saved a newer state, or the saved state has lost old
   * blocks, which this process still has.
   */
  isCurrent(): Promise<boolean>
  stop(): Promise<void>
}

/**
 * The last of anvil's default accounts. Its only transaction is the deployment of the contract, whose address follows from
 * that.
 */
const DEPLOYER: Address = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** Funds of the signer: 10^18 base units (a trillion USDC), and a million ether for gas. */
const TOKENS = 10n ** 18n
const ETHER = 10n ** 24n

/**
 * Starts the chain from its saved state.
 * @param signer receives funds.
 */
export async function openTestChain(control: Database, signer: Address): Promise<TestChain> {
  const saved = await readSavedChain(control, TEST_CHAIN_ID)
  const anvil = await startAnvil(TEST_CHAIN_ID)
  try {
    return await furnish(control, signer, anvil, saved?.state ?? null)
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function furnish(
  control: Database,
  signer: Address,
  anvil: Anvil,
  state: Buffer | null,
): Promise<TestChain> {
  const rpc = createRpc(anvil.url)
  await rpc.ask('evm_setTime', Date.now()) // otherwise the clock continues from the first block
  if (state) await rpc.ask('anvil_loadState', `0x${state.toString('hex')}`)
  else await send(rpc, { data: DEPLOYMENT })
  const { genesis } = await identify(rpc)
  if (!(await rememberChain(control, { id: TEST_CHAIN_ID, genesis, token: TEST_USDC }))) {
    throw new Error(`chain ${TEST_CHAIN_ID} is known as an external chain: set SVC_CHAIN_RPC_URL to its node`)
  }
  const chain = await connect(rpc, TEST_CHAIN_ID, TEST_USDC)
  await fund(chain, signer)
  let revision = (await readRevision(control, TEST_CHAIN_ID)) ?? 0
  let isPruned = false
  const save = async () => {
    const dump = Buffer.from((await rpc.ask<Hex>('anvil_dumpState')).slice(2), 'hex')
    const pruned = await pruneState(dump)
    isPruned = pruned !== undefined
    const kept = { state: pruned ?? dump, url: anvil.url, revision }
    if (!(await saveChain(control, TEST_CHAIN_ID, kept)))
      throw new Error('another worker has saved the test chain')
    revision += 1
  }
  await save()
  return {
    chain,
    url: anvil.url,
    mine: async (blocks) => {
      await rpc.ask('anvil_mine', numberToHex(blocks))
    },
    save,
    isCurrent: async () => {
      if ((await readRevision(control, TEST_CHAIN_ID)) !== revision) return false
      if (!isPruned) return true
      // The blocks since the last save must not be lost.
      await save()
      return false
    },
    stop: async () => {
      await anvil.stop()
      if ((await readRevision(control, TEST_CHAIN_ID)) === revision)
        await locateChain(control, TEST_CHAIN_ID, null)
    },
  }
}

async function fund(chain: Chain, signer: Address): Promise<void> {
  if ((await chain.balanceOf(signer)) < ETHER / 2n)
    await chain.rpc.ask('anvil_setBalance', signer, numberToHex(ETHER))
  if ((await chain.tokensOf(signer)) < TOKENS / 2n)
    await send(chain.rpc, { to: TEST_USDC, data: mintCall(signer, TOKENS) })
}

/** Sends a transaction of the deployer and waits until it is mined. */
async function send(rpc: Rpc, transaction: object): Promise<void> {
  const hash = await rpc.ask<Hex>('eth_sendTransaction', { from: DEPLOYER, ...transaction })
  for (let looks = 0; looks < 100; looks += 1) {
    const receipt = await rpc.ask<{ status: Hex } | null>('eth_getTransactionReceipt', hash)
    if (receipt?.status === '0x1') return
    if (receipt) break
    await rpc.ask('evm_mine')
  }
  throw new Error('a setup transaction of the test chain was not mined')
}
