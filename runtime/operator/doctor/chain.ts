/** Checks whether chain payouts are possible. */
import type { Address } from 'viem'
import { findAnvil } from '../../money/chain/anvil.ts'
import type { Chain } from '../../money/chain/connect.ts'
import {
  type Danger,
  dangerOfChain,
  dangerOfKey,
  describeDanger,
  NOTHING_KNOWN,
} from '../../money/chain/dangers.ts'
import { examineNode } from '../../money/chain/open-chains.ts'
import type { ChainSettings } from '../../platform/chain-settings.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

type ExaminedNode = Awaited<ReturnType<typeof examineNode>>

/** Approximate gas of a payment. */
const GAS = 200_000n

/** Checks the node, the contract, the balance of the signer, and whether live must refuse this chain or key. */
export async function checkChain({ chain: settings }: Pick<Settings, 'chain'>): Promise<Finding[]> {
  const { rpcUrl, chainId, allowTestChain } = settings
  const findings = rpcUrl === undefined ? [checkOwnChain()] : await checkNode(settings, chainId)
  const isKnown = findings.some(({ check }) => check === LIVE_CHAIN || check === LIVE_SIGNER)
  return allowTestChain && !isKnown ? [...findings, warn(LIVE_CHAIN, NOTHING_KNOWN)] : findings
}

const SIGNER = 'payouts’ signer'
const LIVE_CHAIN = 'chain, live'
const LIVE_SIGNER = `${SIGNER}, live`

/** @param expected chain ID from the settings, used if the node does not respond. */
async function checkNode(settings: ChainSettings, expected: number | undefined): Promise<Finding[]> {
  let node: ExaminedNode | undefined
  let found: Finding
  try {
    node = await examineNode(settings)
    const { name, version } = node.chain.domain
    found = ok('chain', `chain ${node.id} at ${node.chain.rpc.place}, ${name} ${version} at ${settings.usdc}`)
  } catch (error) {
    found = fail('chain', error)
  }
  const id = node?.id ?? expected
  const danger = id === undefined ? undefined : dangerOfChain(settings, id)
  return [found, ...findingsOf(LIVE_CHAIN, danger), ...(await checkSigner(settings, id, node?.chain))]
}

function findingsOf(check: string, danger: Danger | undefined): Finding[] {
  if (!danger) return []
  return [danger.isRefused ? fail(check, describeDanger(danger)) : warn(check, danger.sentence)]
}

function checkOwnChain(): Finding {
  try {
    findAnvil()
    return ok('chain', 'the sandbox uses its own test chain; live cannot pay out USDC')
  } catch (error) {
    return warn('chain', error instanceof Error ? error.message : String(error))
  }
}

/** Formats base units as dollars, without rounding. */
function writeUsdc(units: bigint): string {
  const cents = `${units % 1_000_000n}`.padStart(6, '0').replace(/0+$/, '')
  return `${units / 1_000_000n}${cents && `.${cents}`}`
}

/** @param chain undefined if the node does not respond; then only the key is checked. */
async function checkSigner(
  settings: ChainSettings,
  chainId: number | undefined,
  chain: Chain | undefined,
): Promise<Finding[]> {
  try {
    const { openSigner } = await import('../../money/chain/open-signer.ts') // loads viem
    const { address } = await openSigner(settings.signer)()
    const danger = chainId === undefined ? undefined : dangerOfKey(settings, chainId, address)
    return [...(chain ? [await checkBalance(chain, address)] : []), ...findingsOf(LIVE_SIGNER, danger)]
  } catch (error) {
    return [fail(SIGNER, error)]
  }
}

async function checkBalance(chain: Chain, address: Address): Promise<Finding> {
  const [wei, units, head] = await Promise.all([
    chain.balanceOf(address),
    chain.tokensOf(address),
    chain.block('latest'),
  ])
  const words = `${address} has ${wei} wei for gas and ${writeUsdc(units)} USDC`
  if (wei < GAS * (head?.baseFee ?? 0n) * 2n || wei === 0n)
    return warn(SIGNER, `${words}: transfer native currency for gas to it`)
  return units === 0n ? warn(SIGNER, `${words}: transfer USDC to it`) : ok(SIGNER, words)
}
