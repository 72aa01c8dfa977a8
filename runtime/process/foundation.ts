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
import type { Tracer } from '../tracing/span.ts'

/** Parts that are created once and shared by all other parts of a process. */
export interface Foundation {
  readonly settings: Settings
  readonly database: OpenDatabase
  readonly clock: Clock
  readonly log: Logger
  /** Absent if traces are not exported. */
  readonly tracer?: Tracer | undefined
  readonly baseUrls: BaseUrls
  /** HTTP clients for requests to tenants' addresses. */
  readonly outbound: Readonly<Record<Environment, Outbound>>
  readonly google: Google
  /** Absent if this process makes no dollar payouts. */
  readonly bank: Bank | undefined
  readonly sanctions: Sanctions
  /** Chains for USDC payouts. */
  readonly chains: Chains
  /** `wakeUps` works within this process, `wakeUpChannel` across processes. */
  readonly wakeUps: WakeUps
  readonly wakeUpChannel: WakeUpChannel
  /** Whether the process is about to stop: streams end, and load balancers stop sending requests. */
  readonly isLeaving: () => boolean
}
