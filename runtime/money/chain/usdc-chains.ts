import type { Environment } from '../../platform/environment.ts'
import type { Chains } from './open-chains.ts'
import { caip2, TEST_CHAIN_ID, TEST_USDC } from './own-chain.ts'

/** The chain on which an environment pays USDC. */
export interface UsdcChain {
  /** CAIP-2, for example `eip155:8453`. */
  readonly id: string
  /** Address of the USDC contract, with its EIP-55 checksum. */
  readonly contract: string
}

/**
 * The chains if the settings contain no node. The sandbox pays on its built-in chain. Live makes no payouts, but
 * destinations can be created on Base, with Circle's contract address (Circle, "USDC contract addresses").
 */
export const USDC_CHAINS: Readonly<Record<Environment, UsdcChain>> = {
  sandbox: { id: caip2(TEST_CHAIN_ID), contract: TEST_USDC },
  live: { id: 'eip155:8453', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
}

/** Returns the USDC chain of each environment according to the settings. */
export function usdcChainsOf(of: Chains['of']): Readonly<Record<Environment, UsdcChain>> {
  const chainOf = (environment: Environment): UsdcChain => {
    const chain = of[environment]
    return chain ? { id: chain.name, contract: chain.token } : USDC_CHAINS[environment]
  }
  return { sandbox: chainOf('sandbox'), live: chainOf('live') }
}
