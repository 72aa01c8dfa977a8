import type { Environment } from '../../platform/environment.ts'
import type { Chains } from './open-chains.ts'
import { caip2, TEST_CHAIN_ID, TEST_USDC } from './own-chain.ts'

/** Where an environment pays USDC. */
export interface UsdcChain {
  /** CAIP-2: `eip155:8453`. */
  readonly id: string
  /** Address of the contract of USDC, with its EIP-55 checksum. */
  readonly contract: string
}

/**
 * Where USDC is paid unless the settings name a node: on the sandbox's own chain; in live nobody is, but destinations can be
 * given on Base, where Circle's contract is (Circle, "USDC contract addresses").
 */
export const USDC_CHAINS: Readonly<Record<Environment, UsdcChain>> = {
  sandbox: { id: caip2(TEST_CHAIN_ID), contract: TEST_USDC },
  live: { id: 'eip155:8453', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
}

/** The chains that the settings have led to. */
export function usdcChainsOf(of: Chains['of']): Readonly<Record<Environment, UsdcChain>> {
  const chainOf = (environment: Environment): UsdcChain => {
    const chain = of[environment]
    return chain ? { id: chain.name, contract: chain.token } : USDC_CHAINS[environment]
  }
  return { sandbox: chainOf('sandbox'), live: chainOf('live') }
}
