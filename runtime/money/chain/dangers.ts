/** What live must not pay with: test chains, and keys that everyone knows. */
import type { ChainSettings, SignerSettings } from '../../platform/chain-settings.ts'
import { caip2 } from './own-chain.ts'
import { isPubliclyKnown } from './public-keys.ts'

/**
 * Chains on which money is worth nothing (Circle, "USDC contract addresses", testnets; development nodes). The sandbox is paid
 * on no other.
 */
const TEST_CHAINS = new Set([
  ...[31337, 1337], // anvil and hardhat, ganache
  ...[11155111, 84532, 421614, 11155420, 80002, 43113, 1301, 59141, 300],
])

/** @param id of EIP-155. */
export const isTestChain = (id: number): boolean => TEST_CHAINS.has(id)

/** Said where SVC_ALLOW_TEST_CHAIN is set and no danger is known. */
export const NOTHING_KNOWN =
  'SVC_ALLOW_TEST_CHAIN: live may pay on a test chain, and with a key that is publicly known'

/** A reason why live must not pay as the settings say. */
export interface Danger {
  /** Names the variable. */
  readonly sentence: string
  /** Whether a start with it is refused; a warning otherwise. */
  readonly isRefused: boolean
}

/** A danger as an error or a warning says it, with what allows it. */
export const describeDanger = ({ sentence, isRefused }: Danger): string =>
  isRefused ? `${sentence}; SVC_ALLOW_TEST_CHAIN=1 allows it` : sentence

const VARIABLES: Readonly<Record<SignerSettings['kind'], string>> = {
  key: 'SVC_PAYOUT_KEY',
  file: 'SVC_PAYOUT_KEY_FILE',
  external: 'SVC_PAYOUT_SIGNER_URL',
}

/** Production refuses both dangers, and development a known key where money is real. */
const isRefused = ({ allowTestChain, production }: ChainSettings, chainId: number): boolean =>
  !allowTestChain && (production === true || !isTestChain(chainId))

/** @returns the danger that the chain itself is. */
export function dangerOfChain(settings: ChainSettings, chainId: number): Danger | undefined {
  if (!isTestChain(chainId)) return undefined
  const sentence = `SVC_CHAIN_RPC_URL: live pays on ${caip2(chainId)}, a test chain, where money is worth nothing`
  return { sentence, isRefused: isRefused(settings, chainId) }
}

/** @param address of the settings' signer. @returns the danger that its key is. */
export function dangerOfKey(settings: ChainSettings, chainId: number, address: string): Danger | undefined {
  if (!settings.signer || !isPubliclyKnown(address)) return undefined
  const sentence = `${VARIABLES[settings.signer.kind]}: live pays from ${address}, whose private key is publicly known`
  return { sentence, isRefused: isRefused(settings, chainId) }
}
