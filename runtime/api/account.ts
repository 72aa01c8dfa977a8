import type { Database } from '../database/database.ts'
import type { Transactions } from '../database/pool/pool.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'

/** A new key and the one it replaces. */
export interface RotatedKey {
  readonly id: string
  readonly replacesId: string
  /** The key's text, seen this once. */
  readonly secret: string
}

/** What belongs to the account rather than to an environment. Only for operations that are declared to change it. */
export interface AccountActions {
  /** Makes a successor of every secret key of the environment and marks the old ones pending revocation. */
  rotateKeys(): Promise<readonly RotatedKey[]>
  /** Absent members stay as they are, null removes; gives the plan as it is now. */
  changeBilling(change: {
    readonly plan?: Caller['tenant']['plan']
    readonly billingEmail?: string | null
  }): Promise<Caller['tenant']['plan']>
  /** Gives the tenant a new, empty space in the sandbox, and says how many records of each type were in the old one. */
  wipeSandbox(): Promise<Readonly<Record<string, number>>>
}

/** How requests change what belongs to the account: in transactions of the owner, among the tables of one environment. */
export interface AccountChanges {
  forTenant(tenantId: string): Pick<Transactions, 'transaction'>
  /** @param db of such a transaction. */
  bind(db: Database, holder: AccountHolder): AccountActions
  /** After the commit of a wipe: has every node look where the tenant's data is now. */
  notifyNodes(): Promise<unknown>
}

/** Whose account it is. */
export interface AccountHolder extends Pick<KnownCredential, 'tenant' | 'space'> {
  /** Service time. */
  readonly now: number
  /** Called with the tenant's new space. */
  readonly moved: (space: string) => void
}
