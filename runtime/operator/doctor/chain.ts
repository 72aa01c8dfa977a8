/** Whether payouts can be made on a chain. */
import { findAnvil } from '../../money/chain/anvil.ts'
import { examineNode } from '../../money/chain/open-chains.ts'
import type { ChainSettings } from '../../platform/chain-settings.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Gas of a payment, about. */
const GAS = 200_000n

/** The node, the contract, and what the signer has to pay with. */
export async function checkChain({ chain }: Pick<Settings, 'chain'>): Promise<Finding[]> {
  if (chain.rpcUrl === undefined) return [checkOwnChain()]
  try {
    const node = await examineNode(chain)
    const { name, version } = node.chain.domain
    const place = `chain ${node.id} at ${node.chain.rpc.place}`
    return [
      ok('chain', `${place}, ${name} ${version} at ${chain.usdc}`),
      await checkSigner(chain, node.chain),
    ]
  } catch (error) {
    return [fail('chain', error)]
  }
}

function checkOwnChain(): Finding {
  try {
    findAnvil()
    return ok('chain', 'the sandbox has a test chain of its own; live makes no payouts in USDC')
  } catch (error) {
    return warn('chain', error instanceof Error ? error.message : String(error))
  }
}

/** Base units as dollars, exactly. */
function writeUsdc(units: bigint): string {
  const cents = `${units % 1_000_000n}`.padStart(6, '0').replace(/0+$/, '')
  return `${units / 1_000_000n}${cents && `.${cents}`}`
}

async function checkSigner(
  { signer: settings }: ChainSettings,
  chain: Awaited<ReturnType<typeof examineNode>>['chain'],
): Promise<Finding> {
  try {
    const { openSigner } = await import('../../money/chain/open-signer.ts') // with all of viem
    const { address } = await openSigner(settings)()
    const [wei, units, head] = await Promise.all([
      chain.balanceOf(address),
      chain.tokensOf(address),
      chain.block('latest'),
    ])
    const words = `${address} has ${wei} wei for gas and ${writeUsdc(units)} USDC`
    if (wei < GAS * (head?.baseFee ?? 0n) * 2n || wei === 0n)
      return warn('payouts’ signer', `${words}: send it gas`)
    return units === 0n ? warn('payouts’ signer', `${words}: send it USDC`) : ok('payouts’ signer', words)
  } catch (error) {
    return fail('payouts’ signer', error)
  }
}
