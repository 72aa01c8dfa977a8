/** What a worker does beside answering. */
import { type Delivery, openDelivery } from '../delivery/open-delivery.ts'
import { startRetentionJob } from '../delivery/retention-job.ts'
import type { WalletSources } from '../observability/wallet-metrics.ts'
import { openReportLinks } from '../platform/addresses/report-links.ts'
import { createCardKeys } from '../platform/card-keys/card-keys.ts'
import { startResealJob } from '../platform/card-keys/rotation.ts'
import { createTenantNames } from '../platform/keys/tenant-names.ts'
import { createSeals } from '../platform/secrets.ts'
import { startWipeJob } from '../resources/account/wipe-job.ts'
import { startAbandonedJob } from '../resources/authorization-decisions/abandoned-job.ts'
import { startHoldExpiryJob } from '../resources/card-transactions/expiry-job.ts'
import { startScreeningJob } from '../resources/cardholders/screening-job.ts'
import { startDisputeExpiryJob } from '../resources/disputes/expiry-job.ts'
import { startExpiryJob } from '../resources/passes/expiry-job.ts'
import { startActivationJob } from '../resources/payout-destinations/activation-job.ts'
import { startDestinationScreeningJob } from '../resources/payout-destinations/screening-job.ts'
import { startBankJob } from '../resources/payouts/bank-job.ts'
import { openTransferListener } from '../resources/payouts/transfer-listener.ts'
import { startStandInJob } from '../resources/provisioning-payloads/stand-in-job.ts'
import { startSettlementJob } from '../resources/settlements/job.ts'
import { startReportJob } from '../resources/treasury-reports/job.ts'
import { openPassTokens } from '../wallet/pass-tokens.ts'
import { openPushes } from '../wallet-updates/apple/open-pushes.ts'
import { openFollowers } from '../wallet-updates/google/open-followers.ts'
import { startCleanupJob } from './cleanup-job.ts'
import type { Foundation } from './foundation.ts'

export interface Work extends Delivery {
  readonly wallets: WalletSources
}

/** What a worker does beside answering: it delivers, ends passes, holds and disputes in time, and deletes what has been kept long enough. */
export function startWork(parts: Foundation): Work {
  const { settings, database, clock, log, google, bank } = parts
  const delivery = openDelivery(parts)
  const passTokens = openPassTokens(database.pepper)
  const tenantNames = createTenantNames(database.control)
  const { urls } = google
  const pushes = openPushes({ ...parts, passTokens })
  const followers = urls && openFollowers({ ...parts, passTokens, tenantNames, google: { ...google, urls } })
  const jobs = [
    delivery,
    startCleanupJob(database, clock, log),
    startResealJob({
      owner: database.control,
      keys: createCardKeys(database.control, database.pepper, clock),
      clock,
      log,
    }),
    startExpiryJob({ ...parts, passTokens }),
    startHoldExpiryJob(parts),
    startDisputeExpiryJob(parts),
    startActivationJob(parts),
    startDestinationScreeningJob(parts),
    bank && startBankJob({ ...parts, bank, seals: createSeals(database.pepper) }),
    startSettlementJob(parts),
    startStandInJob(parts),
    startRetentionJob({
      control: database.control,
      clock,
      log,
      days: settings.eventDays,
      scanDays: settings.scanDays,
    }),
    startWipeJob({ database, clock, log }),
    startReportJob({ ...parts, links: openReportLinks(database.pepper, parts.baseUrls) }, log),
    startScreeningJob(parts),
    startAbandonedJob(parts),
    parts.chains.start({
      ...parts,
      control: database.control,
      pools: database,
      openListener: (environment, space) => openTransferListener(parts, environment, space),
    }),
    followers,
    pushes,
  ]
  const stop = async () => {
    await Promise.all(jobs.map((job) => job?.stop()))
  }
  const wallets = { apple: pushes.apple, google: followers?.google ?? {} }
  return { workers: delivery.workers, wallets, stop }
}
