import type { Account } from '../contract.ts'
import type { Database } from '../platform/database/database.ts'
import type { Transactions } from '../platform/database/pool/pool.ts'
import type { Credential } from '../platform/keys/keyring.ts'

/** How requests change what belongs to the account: in transactions of the owner, among the tables of one environment. */
export interface AccountChanges {
  forTenant(tenantId: string): Pick<Transactions, 'transaction'>
  /** @param db of such a transaction. */
  bind(db: Database, holder: AccountHolder): Account
  /** After the commit of a wipe: has every node look where the tenant's data is now. */
  notifyNodes(): Promise<void>
}

/** Whose account it is. */
export interface AccountHolder extends Pick<Credential, 'tenant' | 'space'> {
  /** Service time. */
  readonly now: number
  /** Called with the tenant's new space. */
  readonly moved: (space: string) => void
}
