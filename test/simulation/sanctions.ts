/** A list of sanctions of which a newer version exists from the start. The machines read it when a merchant's wallet is added. */
import type { Sanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import type { Database } from '../../runtime/database/database.ts'

export interface ListedWallets {
  readonly sanctions: Sanctions
  /** Reads the newer list, which has the wallets of all merchants that start with this. */
  read(): void
  /** When the newer list was read, in milliseconds since the epoch; undefined before. */
  readonly readAt: number | undefined
}

/** Owners of wallets on the newer list end with this. */
export const DOOMED = ' doomed'

/** A company on both lists. */
export const LISTED_NAME = 'GOLDEN LANTERN GENERAL TRADING FZE'

/** Registers the newer list. */
export async function registerNewer(db: Database, { list }: Sanctions): Promise<void> {
  const text = `INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, 'newer', now())`
  await db.query({ text }, [list().number + 1])
}

/** @param isDoomed whether the newer list has a wallet, CAIP-10. */
export function createListedWallets(
  { list }: Sanctions,
  isDoomed: (account: string) => boolean,
  now: () => number,
): ListedWallets {
  let readAt: number | undefined
  const older = list()
  const [found] = older.match({
    ...{ type: 'company', name: LISTED_NAME, date_of_birth: null, billing_address: null },
  } as const)
  const newer = {
    ...{ ...older, version: 'newer', number: older.number + 1 },
    findWallet: (account: string) => (isDoomed(account) ? found!.entry : older.findWallet(account)),
  }
  return {
    sanctions: { list: () => (readAt === undefined ? older : newer), reload: async () => {} },
    read() {
      readAt ??= now()
    },
    get readAt() {
      return readAt
    },
  }
}
