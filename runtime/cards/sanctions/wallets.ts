/** Addresses on chains that a list names, in a form in which two spellings of one address are the same. */
import { createHash } from 'node:crypto'

/** `Digital Currency Address - ETH 0x…; alt. Digital Currency Address - XBT …`, whatever the currency. */
const LISTED = /Digital Currency Address\s*-\s*[A-Z0-9]{2,10}\s+([^\s;,.]+)/gi

/** Reads the addresses in the remarks of an entry, as `readWallet` writes them. */
export function readListedWallets(remarks: string): readonly string[] {
  return [...remarks.matchAll(LISTED)].map(([, address]) => readWallet(address!))
}

const HEX = /^0x[0-9a-f]{40}$/i
/** Bech32 (BIP 173) and CashAddr are the same in capital letters; Base58 is not. */
const CASELESS = /^(?:bc1|tb1|ltc1|bitcoincash:)/i

/**
 * An address, alone or with the chain before it (CAIP-10), as it is compared. An address of Ethereum is the same on every chain
 * that is made like it, and one of Tron is the address that the same key has on Ethereum.
 */
export function readWallet(account: string): string {
  const address = account.slice(account.lastIndexOf(':') + 1)
  if (HEX.test(address)) return address.toLowerCase()
  if (CASELESS.test(account)) return address.toLowerCase()
  return readTron(address) ?? address
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const TRON = /^T[1-9A-HJ-NP-Za-km-z]{33}$/
/** What stands before the twenty bytes of an address on Tron. */
const TRON_PREFIX = 0x41

/** Undefined for what is no address of Tron: its checksum tells (Base58Check). */
function readTron(address: string): string | undefined {
  if (!TRON.test(address)) return undefined
  const value = Array.from(address).reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n)
  const bytes = Buffer.from(value.toString(16).padStart(50, '0'), 'hex')
  const [content, checksum] = [bytes.subarray(0, 21), bytes.subarray(21)]
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  if (content[0] !== TRON_PREFIX || !sha256(sha256(content)).subarray(0, 4).equals(checksum)) return undefined
  return `0x${content.subarray(1).toString('hex')}`
}
