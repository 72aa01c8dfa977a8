/** Bank accounts at rest: sealed from the token on; only what is sent to the bank opens them. */
import type { components } from '../../../generated/canonical/types.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'

export type BankAccount = components['schemas']['BankAccountInput']

interface Sealing {
  readonly seals: Seals
  readonly caller: { readonly environment: Environment; readonly space: string }
}

/** Sealed for one destination, it opens for no other. */
const contextOf = ({ caller }: Sealing, destinationId: string) =>
  `payout_destinations.account ${caller.environment} ${caller.space} ${destinationId}`

export function sealAccount(sealing: Sealing, destinationId: string, account: BankAccount): Buffer {
  return sealing.seals.seal(JSON.stringify(account), contextOf(sealing, destinationId))
}

/** Throws `UnsealError` where it was sealed for another destination, or changed. */
export function openAccount(sealing: Sealing, destinationId: string, sealed: Buffer): BankAccount {
  return JSON.parse(sealing.seals.unseal(sealed, contextOf(sealing, destinationId))) as BankAccount
}
