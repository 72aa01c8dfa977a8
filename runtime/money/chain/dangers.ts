/** Dangerous settings for live payouts: test chains, and keys that are publicly known. */
import type { ChainSettings, SignerSettings } from '../../platform/chain-settings.ts'
import { caip2 } from './own-chain.ts'
import { isPubliclyKnown } from './public-keys.ts'

/**
 * Chain IDs of testnets (Circle, "USDC contract addresses") and development nodes, on which tokens have no value. The
 * sandbox pays only on these chains.
 */
const TEST_CHAINS = new Set([
  ...[31337, 1337], // anvil and hardhat, ganache
  ...[11155111, 84532, 421614, 11155420, 80002, 43113, 1301, 59141, 300],
])

/**
 * Returns whether a chain is a test chain.
 * @param id EIP-155 chain ID.
 */
export const isTestChain = (id: number): boolean => TEST_CHAINS.has(id)

/** Warning if SVC_ALLOW_TEST_CHAIN is set but no danger was found. */
export const NOTHING_KNOWN = 'SVC_ALLOW_TEST_CHAIN: live payouts may use a test chain or a publicly known key'

/** A reason not to make live payouts with the current settings. */
export interface Danger {
  /** Contains the name of the environment variable. */
  readonly sentence: string
  /** Whether the service refuses to start; otherwise it only warns. */
  readonly isRefused: boolean
}

/** Returns the text of a danger for an error or a warning, with the setting that allows it. */
export const describeDanger = ({ sentence, isRefused }: Danger): string =>
  isRefused ? `${sentence}. To allow it, set SVC_ALLOW_TEST_CHAIN=1` : sentence

const VARIABLES: Readonly<Record<SignerSettings['kind'], string>> = {
  key: 'SVC_PAYOUT_KEY',
  external: 'SVC_PAYOUT_SIGNER_URL',
}

/** Production refuses both dangers. Development refuses a publicly known key on a chain with real value. */
const isRefused = ({ allowTestChain, production }: ChainSettings, chainId: number): boolean =>
  !allowTestChain && (production === true || !isTestChain(chainId))

/** Returns the danger of the chain, if any. */
export function dangerOfChain(settings: ChainSettings, chainId: number): Danger | undefined {
  if (!isTestChain(chainId)) return undefined
  const sentence = `SVC_CHAIN_RPC_URL: live payouts use ${caip2(chainId)}, a test chain on which tokens have no value`
  return { sentence, isRefused: isRefused(settings, chainId) }
}

/**
 * Returns the danger of the signing key, if any.
 * @param address of the configured signer.
 */
export function dangerOfKey(settings: ChainSettings, chainId: number, address: string): Danger | undefined {
  if (!settings.signer || !isPubliclyKnown(address)) return undefined
  const sentence = `${VARIABLES[settings.signer.kind]}: live payouts are sent from ${address}, whose private key is publicly known`
  return { sentence, isRefused: isRefused(settings, chainId) }
}
