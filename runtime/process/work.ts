import { wipeWorker } from '../account/account/wipe-job.ts'
import { snapshotWorker } from '../account/snapshots/job.ts'
import { totalsWorker } from '../account/totals/job.ts'
import { cardholderScreeningWorker } from '../cards/cardholders/screening-job.ts'
import { abandonedDecisionWorker } from '../cards/decisions/abandoned-job.ts'
import { disputeExpiryWorker } from '../cards/disputes/expiry-job.ts'
import { payloadWorker } from '../cards/provisioning/stand-in-job.ts'
import { backtestWorker } from '../cards/spending-control-backtests/job.ts'
import { holdExpiryWorker } from '../cards/transactions/expiry-job.ts'
import { type Delivery, openDelivery } from '../events/delivery/open-delivery.ts'
import { startRetentionJob } from '../events/delivery/retention-job.ts'
import { createEndpointSecrets } from '../events/webhook-endpoints/secrets.ts'
import { recoveryWorker } from '../events/webhook-recoveries/job.ts'
import { balanceAlertWorker } from '../money/balance/alert-job.ts'
import { holdTotalsWorker } from '../money/balance/hold-totals-job.ts'
import { activationWorker } from '../money/destinations/activation-job.ts'
import { destinationScreeningWorker } from '../money/destinations/screening-job.ts'
import { bankWorker } from '../money/payouts/bank-job.ts'
import { openTransferListener } from '../money/payouts/transfer-listener.ts'
import { reportExpiryWorker, reportWorker } from '../money/reports/job.ts'
import { settlementWorker } from '../money/settlements/job.ts'
import type { WalletSources } from '../operator/metrics/wallet-metrics.ts'
import { startOpeningAbandoned } from '../operator/moves/abandoned.ts'
import { startVerification } from '../operator/verification.ts'
import { passMessageBatchWorker } from '../passes/pass-messages/batch-job.ts'
import { passMessageWorker } from '../passes/pass-messages/job.ts'
import { passExpiryWorker } from '../passes/passes/expiry-job.ts'
import { openPassTokens } from '../passes/wallets/render/pass-tokens.ts'
import { openPushes } from '../passes/wallets/sync/apple/open-pushes.ts'
import { openFollowers } from '../passes/wallets/sync/google/open-followers.ts'
import { createSeals } from '../platform/secrets.ts'
import { stopTogether } from '../platform/stopping.ts'
import { openReportLinks } from '../tenants/addresses/report-links.ts'
import { createTenantNames } from '../tenants/keys/tenant-names.ts'
import type { DeclaredWorker } from '../work/workers.ts'
import { startCleanupJob } from './cleanup-job.ts'
import type { Foundation } from './foundation.ts'

export interface Work extends Delivery {
  readonly wallets: WalletSources
  readonly queue: readonly DeclaredWorker[]
  /** Undefined if SVC_VERIFY_SECONDS is 0. */
}

/**
 * Starts the background work of a process with the `worker` role: deliveries, wallet updates, payouts, settlements,
 * expiry of passes, holds and disputes, and deletion of rows after their retention.
 */
export function startWork(parts: Foundation): Work {
  const { settings, database, clock, log, google, bank } = parts
  const recoveries = recoveryWorker(parts)
  const delivery = openDelivery({ ...parts, recoveryDue: recoveries.ended })
  const passTokens = openPassTokens(database.pepper)
  const tenantNames = createTenantNames(database.control)
  const { urls } = google
  const pushes = openPushes({ ...parts, passTokens })
  const followers = urls && openFollowers({ ...parts, passTokens, tenantNames, google: { ...google, urls } })
  const seals = createSeals(database.pepper)
  const reporting = { ...parts, links: openReportLinks(database.pepper, parts.baseUrls) }
  const queue: readonly DeclaredWorker[] = [
    passExpiryWorker({ ...parts, passTokens }),
    holdExpiryWorker(parts),
    disputeExpiryWorker(parts),
    activationWorker(parts),
    recoveries,
    destinationScreeningWorker(parts),
    settlementWorker(parts),
    payloadWorker(parts),
    abandonedDecisionWorker(parts),
    backtestWorker(parts),
    cardholderScreeningWorker(parts),
    ...(bank ? [bankWorker({ ...parts, bank, seals })] : []),
    reportWorker(reporting),
    reportExpiryWorker(reporting),
    wipeWorker({ database, clock, log }),
    snapshotWorker({ ...parts, endpointSecrets: createEndpointSecrets(seals, 'sandbox') }),
    totalsWorker({ database, clock, log }),
    holdTotalsWorker(parts),
    balanceAlertWorker(parts),
    passMessageBatchWorker(parts),
    passMessageWorker(parts),
  ]
  for (const worker of queue) worker.start()
  const verification =
    settings.verifyMs === 0
      ? undefined
      : startVerification({ control: database.control, clock, log, everyMs: settings.verifyMs })
  const jobs = [
    ...queue,
    verification,
    delivery,
    startCleanupJob(database, clock, log),
    startOpeningAbandoned({ control: database.control, clock }, log),
    startRetentionJob({
      control: database.control,
      clock,
      log,
      days: settings.eventDays,
      scanDays: settings.scanDays,
    }),
    parts.chains.start({
      ...parts,
      control: database.control,
      pools: database,
      openListener: (environment, space) => openTransferListener(parts, environment, space),
    }),
    followers,
    pushes,
  ]
  const stop = () => stopTogether(jobs.map((job) => () => job?.stop()))
  const wallets = { apple: pushes.apple, google: followers?.google ?? {} }
  return { workers: delivery.workers, wallets, queue, stop }
}
