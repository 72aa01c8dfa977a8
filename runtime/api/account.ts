import type { Database } from '../database/database.ts'
import type { Transactions } from '../database/pool/pool.ts'
import type { Faults } from '../tenants/faults/faults.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'

export interface RotatedKey {
  readonly id: string
  readonly replacesId: string
  /** Text of the new key, which is shown only once. */
  readonly secret: string
}

/** A sandbox to create. Instants are service time, in milliseconds since the epoch. */
export interface NewSandbox {
  readonly id: string
  readonly name: string
  /** The snapshot or the sandbox that it is to be a copy of, `default` or `live`. */
  readonly from?: string | undefined
  /** How far its clock starts in the past, in milliseconds. */
  readonly lag: number
  readonly created: number
  readonly updated: number
}

/** A key to create for a named sandbox. */
export interface NewSandboxKey {
  /** ID of the sandbox. */
  readonly id: string
  readonly scope: 'read' | 'write' | 'admin'
}

/** Changes to the account, for operations whose document declares such a change. */
export interface AccountActions {
  /** Creates a successor of every secret key of the sandbox or of live, and marks the old keys as pending revocation. */
  rotateKeys(): Promise<readonly RotatedKey[]>
  /** Changes plan and billing email: absent members stay the same, null removes. Returns the resulting plan. */
  changeBilling(change: {
    readonly plan?: Caller['tenant']['plan']
    readonly billingEmail?: string | null
  }): Promise<Caller['tenant']['plan']>
  /**
   * Gives the tenant a new, empty space in the sandbox. Returns the number of records of each type in the old space.
   */
  wipeSandbox(): Promise<Readonly<Record<string, number>>>
  /**
   * Creates a named sandbox. Returns its first key, whose text is shown only once, and the snapshot that it is to be
   * filled from. Rejects with `ApiError` if the account has too many, or if it cannot be filled.
   */
  createSandbox(
    row: NewSandbox,
  ): Promise<{ readonly id: string; readonly secret: string; readonly restoring: string | null }>
  /** Creates a key of a named sandbox, whose text is shown only once; undefined if there is no such sandbox. */
  createSandboxKey(key: NewSandboxKey): Promise<{ readonly id: string; readonly secret: string } | undefined>
  /** Deletes a named sandbox with its keys. Returns whether it existed. */
  deleteSandbox(id: string): Promise<boolean>
  /** Sets the failures that are simulated in the sandbox. */
  putFaults(faults: Faults): Promise<void>
  /** Ends the simulated failures. Returns whether there were any. */
  deleteFaults(): Promise<boolean>
}

/**
 * Provides transactions that may change the account. They run as the database owner, in the schema of one
 * environment.
 */
export interface AccountChanges {
  forTenant(tenantId: string): Pick<Transactions, 'transaction'>
  /** @param db a transaction from `forTenant`. */
  bind(db: Database, holder: AccountHolder): AccountActions
  /** Call this after the commit of a wipe. Makes every node look up the tenant's space again. */
  notifyNodes(): Promise<unknown>
}

export interface AccountHolder extends Pick<KnownCredential, 'tenant' | 'space' | 'key'> {
  /** Service time. */
  readonly now: number
  /** Called with the tenant's new space. */
  readonly moved: (space: string) => void
  /** Called when credentials changed, so that this node reads them again. */
  readonly changed: () => void
}
