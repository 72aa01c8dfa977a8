/** Reads blockchain addresses from sanctions lists and normalizes them, so that two spellings of one address are equal. */
import { createHash } from 'node:crypto'

/** Matches `Digital Currency Address - ETH 0x…; alt. Digital Currency Address - XBT …` for any currency. */
const LISTED = /Digital Currency Address\s*-\s*[A-Z0-9]{2,10}\s+([^\s;,.]+)/gi

/** Returns the addresses in the remarks of an entry, normalized by `readWallet`. */
export function readListedWallets(remarks: string): readonly string[] {
  return [...remarks.matchAll(LISTED)].map(([, address]) => readWallet(address!))
}

const HEX = /^0x[0-9a-f]{40}$/i
/** Prefixes of Bech32 (BIP 173) and CashAddr addresses, which ignore case. Base58 addresses do not. */
const CASELESS = /^(?:bc1|tb1|ltc1|bitcoincash:)/i

/**
 * Normalizes an address, with or without a CAIP-10 chain prefix. Ethereum addresses are equal on all EVM chains. A Tron
 * address becomes the Ethereum address of the same key.
 */
export function readWallet(account: string): string {
  const address = account.slice(account.lastIndexOf(':') + 1)
  if (HEX.test(address)) return address.toLowerCase()
  if (CASELESS.test(account)) return address.toLowerCase()
  return readTron(address) ?? address
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const TRON = /^T[1-9A-HJ-NP-Za-km-z]{33}$/
/** The byte before the 20 bytes of a Tron address. */
const TRON_PREFIX = 0x41

/** Returns the Ethereum form of a Tron address, or undefined if the Base58Check checksum does not match. */
function readTron(address: string): string | undefined {
  if (!TRON.test(address)) return undefined
  const value = Array.from(address).reduce((sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)), 0n)
  const bytes = Buffer.from(value.toString(16).padStart(50, '0'), 'hex')
  const [content, checksum] = [bytes.subarray(0, 21), bytes.subarray(21)]
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  if (content[0] !== TRON_PREFIX || !sha256(sha256(content)).subarray(0, 4).equals(checksum)) return undefined
  return `0x${content.subarray(1).toString('hex')}`
}
