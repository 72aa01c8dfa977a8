import type { Database, Statement } from '../../database/database.ts'

export type ListenerName = 'sandbox' | 'live' | 'console'

/** The origin of a listener of the deployment. */
export interface ListenerAddress {
  readonly base_url: string
  /** Whether a setting declares the origin. If not, it is the address on which a process listens. */
  readonly declared: boolean
}

export type Addresses = Readonly<Partial<Record<ListenerName, ListenerAddress>>>

// An origin that is not declared does not overwrite a declared one.
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
