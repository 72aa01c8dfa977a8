/** Seals bank accounts at rest, from the token on. They are opened only to send a payment to the bank. */
import type { components } from '../../../generated/canonical/types.ts'
import { lastingSpaceOf } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'

export type BankAccount = components['schemas']['BankAccountInput']

interface Sealing {
  readonly seals: Seals
  readonly caller: { readonly environment: Environment; readonly space: string }
}

/** The sealing context. An account sealed for one destination cannot be opened for any other. */
const contextOf = ({ caller }: Sealing, destinationId: string) =>
  `payout_destinations.account ${caller.environment} ${lastingSpaceOf(caller.space)} ${destinationId}`

export function sealAccount(sealing: Sealing, destinationId: string, account: BankAccount): Buffer {
  return sealing.seals.seal(JSON.stringify(account), contextOf(sealing, destinationId))
}

/** Opens a bank account. Throws `UnsealError` if it was sealed for a different destination or was modified. */
export function openAccount(sealing: Sealing, destinationId: string, sealed: Buffer): BankAccount {
  return JSON.parse(sealing.seals.unseal(sealed, contextOf(sealing, destinationId))) as BankAccount
}
