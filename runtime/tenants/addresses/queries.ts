import type { Database, Statement } from '../../database/database.ts'

export type ListenerName = 'sandbox' | 'live' | 'console'

/** Where callers reach a listener of the deployment. */
export interface ListenerAddress {
  readonly base_url: string
  /** By a setting of some process, not because one listens there. */
  readonly declared: boolean
}

export type Addresses = Readonly<Partial<Record<ListenerName, ListenerAddress>>>

// Nodes that were told nothing do not write over what another was told.
const SAVE: Statement = {
  text: `INSERT INTO control.addresses AS a (listener, base_url, declared) VALUES ($1, $2, $3)
         ON CONFLICT (listener) DO UPDATE SET base_url = excluded.base_url, declared = excluded.declared
          WHERE (excluded.declared OR NOT a.declared)
            AND (a.base_url, a.declared) IS DISTINCT FROM (excluded.base_url, excluded.declared)`,
}

export async function saveAddress(
  db: Database,
  listener: ListenerName,
  address: ListenerAddress,
): Promise<void> {
  await db.query(SAVE, [listener, address.base_url, address.declared])
}

type AddressRow = ListenerAddress & { readonly listener: ListenerName }

export const SELECT_ADDRESSES = 'SELECT listener, base_url, declared FROM control.addresses'

export function addressesOf(rows: readonly AddressRow[]): Addresses {
  return Object.fromEntries(rows.map(({ listener, ...address }) => [listener, address]))
}

export async function readAddresses(db: Database): Promise<Addresses> {
  return addressesOf((await db.query<AddressRow>({ text: SELECT_ADDRESSES })).rows)
}
