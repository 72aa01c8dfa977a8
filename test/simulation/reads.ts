/** What merchants read of the service at the end of a day. */
import type { JsonWebKey } from 'node:crypto'
import type { Environment } from '../../runtime/platform/environment.ts'

/** An object of a list. */
export type Item = Readonly<Record<string, unknown>> & { readonly id: string }

/** What was read of one endpoint. Lists by their filter. */
export interface EndpointRead {
  readonly shown: Item
  readonly attempts: Readonly<Record<string, readonly Item[]>>
  readonly recoveries: Readonly<Record<string, readonly Item[]>>
  /** One attempt and one recovery, retrieved. */
  readonly attempt: Item | undefined
  readonly recovery: Item | undefined
  /** Public keys of its signatures. */
  readonly keys: readonly JsonWebKey[]
}

export interface EnvironmentRead {
  /** When reading began, in milliseconds since the epoch. Deliveries go on meanwhile. */
  readonly at: number
  /** Lists of endpoints by their filter. */
  readonly lists: Readonly<Record<string, readonly Item[]>>
  readonly endpoints: readonly EndpointRead[]
  readonly events: Readonly<Record<string, readonly Item[]>>
  readonly event: Item | undefined
}

export type HooksRead = Readonly<Record<Environment, EnvironmentRead>>

/** An object with its time of creation. */
export type DatedItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly created: string }

/** What was read of money: whole lists, newest first, and balances by their instant. */
export interface MoneyRead {
  readonly settlements: readonly DatedItem[]
  readonly lines: readonly DatedItem[]
  readonly payouts: readonly DatedItem[]
  readonly destinations: readonly DatedItem[]
  readonly entries: Readonly<Record<'program_funds' | 'settlement_payable', readonly DatedItem[]>>
  readonly balances: ReadonlyMap<string, Readonly<Record<string, unknown>>>
}
