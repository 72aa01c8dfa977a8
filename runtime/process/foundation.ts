import type { Logger } from 'pino'
import type { Sanctions } from '../cards/sanctions/list-in-use.ts'
import type { OpenDatabase } from '../database/open/open-database.ts'
import type { WakeUpChannel, WakeUps } from '../events/emit/wake-ups.ts'
import type { Outbound } from '../events/outbound/outbound.ts'
import type { Chains } from '../money/chain/open-chains.ts'
import type { Bank } from '../money/payouts/bank-client.ts'
import type { Google } from '../passes/wallets/sync/google/open-google.ts'
import type { Environment } from '../platform/environment.ts'
import type { Settings } from '../platform/settings.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'
import type { Clock } from '../tenants/clock/clock.ts'

/** What every part of a process may be given. */
export interface Foundation {
  readonly settings: Settings
  readonly database: OpenDatabase
  readonly clock: Clock
  readonly log: Logger
  readonly baseUrls: BaseUrls
  /** The way out to tenants' addresses. */
  readonly outbound: Readonly<Record<Environment, Outbound>>
  readonly google: Google
  /** Absent where nobody pays dollars out. */
  readonly bank: Bank | undefined
  readonly sanctions: Sanctions
  /** Which chain payouts are made on. */
  readonly chains: Chains
  /** Within this process, and to the others. */
  readonly wakeUps: WakeUps
  readonly wakeUpChannel: WakeUpChannel
  /** The process is about to stop: streams end, and nothing more shall be sent to it. */
  readonly isLeaving: () => boolean
}
