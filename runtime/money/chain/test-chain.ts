/**
 * A chain of our own, for the sandbox: anvil with a contract like USDC's on it. Its state is kept in the database, so that
 * whichever worker has the account runs it, and what was told as paid survives any kill: it is saved before that.
 */
import { type Address, type Hex, numberToHex } from 'viem'
import type { Database } from '../../database/database.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { locateChain, readRevision, readSavedChain, rememberChain, saveChain } from './chain-queries.ts'
import { type Chain, connect, identify } from './connect.ts'
import compiled from './contract/test-usdc.json' with { type: 'json' }
import { TEST_CHAIN_ID, TEST_USDC } from './own-chain.ts'
import { createRpc, type Rpc } from './rpc.ts'
import { mintCall } from './token.ts'

export interface TestChain {
  readonly chain: Chain
  readonly url: string
  /** Mines so many blocks, since nobody else does. */
  mine(blocks: number): Promise<void>
  /** Keeps what has happened. Throws where another worker has saved meanwhile: this one's chain is stale. */
  save(): Promise<void>
  /** Whether it still is what was saved last. */
  isCurrent(): Promise<boolean>
  stop(): Promise<void>
}

/** The last of anvil's own accounts; it has deployed nothing but the contract, whose address follows from that. */
const DEPLOYER: Address = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** What the signer has at least: a thousand billion dollars, and a million ether for gas. */
const TOKENS = 10n ** 18n
const ETHER = 10n ** 24n

/** Starts it, from what was saved last. @param signer who gets something to pay with. */
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
  await rpc.ask('evm_setTime', Date.now()) // else it goes on from its first block's
  if (state) await rpc.ask('anvil_loadState', `0x${state.toString('hex')}`)
  else await send(rpc, { data: compiled.bytecode })
  const { genesis } = await identify(rpc)
  if (!(await rememberChain(control, { id: TEST_CHAIN_ID, genesis, token: TEST_USDC }))) {
    throw new Error(`chain ${TEST_CHAIN_ID} was one of somebody else's: set SVC_CHAIN_RPC_URL to it again`)
  }
  const chain = await connect(rpc, TEST_CHAIN_ID, TEST_USDC)
  await fund(chain, signer)
  let revision = (await readRevision(control, TEST_CHAIN_ID)) ?? 0
  const save = async () => {
    const dump = await rpc.ask<Hex>('anvil_dumpState')
    const kept = { state: Buffer.from(dump.slice(2), 'hex'), url: anvil.url, revision }
    if (!(await saveChain(control, TEST_CHAIN_ID, kept)))
      throw new Error('the test chain was moved elsewhere')
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
    isCurrent: async () => (await readRevision(control, TEST_CHAIN_ID)) === revision,
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

/** One transaction of the deployer, mined. */
async function send(rpc: Rpc, transaction: object): Promise<void> {
  const hash = await rpc.ask<Hex>('eth_sendTransaction', { from: DEPLOYER, ...transaction })
  for (let looks = 0; looks < 100; looks += 1) {
    const receipt = await rpc.ask<{ status: Hex } | null>('eth_getTransactionReceipt', hash)
    if (receipt?.status === '0x1') return
    if (receipt) break
    await rpc.ask('evm_mine')
  }
  throw new Error('the contract of the test chain cannot be deployed')
}
