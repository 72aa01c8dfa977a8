/** Addresses on a chain: CAIP-10, with the checksum of EIP-55. */
import type { Detail } from 'dateline/runtime'
import type { UsdcChain } from '../chain/usdc-chains.ts'

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/**
 * What is wrong with an address that has the form of one: another chain than that of the environment, letters that do not fit
 * the checksum, or an account that nobody can take the money out of.
 *
 * @param account CAIP-10: `eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7`.
 */
export async function checkAccount(
  field: string,
  account: string,
  { id, contract }: UsdcChain,
): Promise<Detail[]> {
  const fault = (issue: string): Detail[] => [{ field, issue }]
  const cut = account.lastIndexOf(':')
  const [chain, address] = [account.slice(0, cut), account.slice(cut + 1)]
  if (chain !== id) return fault(`is on another chain; payouts go out on ${id}: give an address there`)
  if (address === ZERO_ADDRESS) return fault('is the zero address, which nobody has the key of')
  const { getAddress } = await import('viem/utils') // a quarter of a second, of a start that may not need it
  if (getAddress(address) !== address) {
    return fault('has a wrong checksum (EIP-55): copy it again from the wallet, capital letters included')
  }
  return address === contract ? fault('is the contract of USDC itself: give the address of a wallet') : []
}
