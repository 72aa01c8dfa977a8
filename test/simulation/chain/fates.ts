/**
 * What becomes of some transactions, by their nonce, and what else is sent from the account that pays: a stranger copies an
 * authorization, the contract rejects a transfer, and another program uses the account.
 */
import { type Hex, keccak256, stringToHex } from 'viem'

/** `copied`: a stranger sends the authorization first. `rejected`: the contract rejects the transfer. `doubted`: for a while, the
 * contract reports the authorization of a transfer as unused. `disputed`: it does so until an operator decides. `denied`: likewise, and
 * the receipt says that the contract rejected the transfer. `ignored`: no block includes the first transaction for a while. */
export type Fate = 'copied' | 'rejected' | 'doubted' | 'disputed' | 'denied' | 'ignored'

const FATES: readonly (Fate | undefined)[] = [
  ...[undefined, 'copied', undefined, 'rejected', 'denied', 'doubted', 'ignored', 'disputed'],
] as const

/** Whether the node contradicts itself about a transaction of the service until an operator decides. */
export const isContradicted = (nonce: number): boolean => {
  const fate = fateOf(nonce)
  return fate === 'disputed' || fate === 'denied'
}

export const fateOf = (nonce: number): Fate | undefined => FATES[nonce % FATES.length]

/** How long no block includes an ignored transaction. The service offers more for it before. */
export const IGNORED_MS = 10 * 60_000

/** How long the contract reports the authorization of a doubted transfer as unused. */
export const DOUBTED_MS = 20 * 60_000

/** The account of whoever copies authorizations. */
export const STRANGER = '0x57A4A11ce0000000000000000000000000000000'

/** Times of the day at which another program sends a transaction from the account that pays: one in peace, one in a burst. */
const FOREIGN_TIMES = ['01:20:00', '10:00:24']

/** From each of these hours on, the next transaction that the service sends is displaced by one of another program. */
export const DISPLACED_HOURS = [7, 12]

/** From each of these hours on, the next block with a transaction of the service is replaced, unless that happens by chance. */
export const REPLACED_HOURS = [0, 5]

const DAY_S = 86_400

const FOREIGN_S = FOREIGN_TIMES.map((time) => Date.parse(`1970-01-01T${time}Z`) / 1000)

/** @param timestamp of a block, in seconds since the epoch. @param seconds since the block before it. */
export const isForeign = (timestamp: number, seconds: number): boolean =>
  FOREIGN_S.some((at) => {
    const age = (timestamp % DAY_S) - at
    return age >= 0 && age < seconds
  })

/** Returns the hash of a transaction that the service has not signed. */
export const foreignHash = (what: string): Hex => keccak256(stringToHex(`a transaction of others: ${what}`))
