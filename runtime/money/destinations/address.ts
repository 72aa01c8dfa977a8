/** Validates blockchain addresses: CAIP-10 with an EIP-55 checksum. */
import type { Detail } from 'dateline/runtime'
import type { UsdcChain } from '../chain/usdc-chains.ts'

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

/**
 * Checks a well-formed address. Reports an address on a different chain, a wrong checksum, and accounts from which no one
 * can withdraw.
 * @param account CAIP-10, for example `eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7`.
 */
export async function checkAccount(
  field: string,
  account: string,
  { id, contract }: UsdcChain,
): Promise<Detail[]> {
  const fault = (issue: string): Detail[] => [{ field, issue }]
  const cut = account.lastIndexOf(':')
  const [chain, address] = [account.slice(0, cut), account.slice(cut + 1)]
  if (chain !== id)
    return fault(`is on a different chain: payouts go out on ${id}, so use an address on that chain`)
  if (address === ZERO_ADDRESS)
    return fault('is the zero address, which has no private key: use a wallet address')
  const { getAddress } = await import('viem/utils') // loaded on first use: it takes 250 ms
  if (getAddress(address) !== address) {
    return fault(
      'has a wrong EIP-55 checksum: copy the address from the wallet again, including capital letters',
    )
  }
  return address === contract ? fault('is the USDC contract itself: use a wallet address') : []
}
