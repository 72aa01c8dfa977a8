/** The alerts besides the burn rates of the objectives. Rules and runbook are made from this table. */
import type { Timescale } from './timescale.ts'

export interface WatchAlert {
  readonly name: string
  /** `page`: act now. `ticket`: act within a day. */
  readonly severity: 'page' | 'ticket'
  readonly expr: (time: Timescale) => string
  /** How long the expression must hold. */
  readonly for: string
  readonly meaning: string
  readonly look: string
  readonly action: string
  /** As in `Objective`. The alert must fire within 20 samples. */
  readonly broken: {
    readonly series: readonly (readonly [series: string, values: string])[]
    readonly labels: Readonly<Record<string, string>>
  }
}

const DAY = 86_400

/** Seconds after the epoch that the time of promtool reaches. */
const LATER = 30 * DAY

export const ALERTS: readonly WatchAlert[] = [
  {
    name: 'ServiceDown',
    severity: 'page',
    expr: () => 'up{job="dateline"} == 0 or absent(up{job="dateline"})',
    for: '1m',
    meaning: 'A process does not answer Prometheus, or Prometheus has no targets.',
    look: '`/livez` of the instance, and its log',
    action: 'Start the process again. If it was stopped on purpose, remove the target.',
    broken: {
      series: [['up{job="dateline", instance="a"}', '0x20']],
      labels: { job: 'dateline', instance: 'a' },
    },
  },
  {
    name: 'NotReady',
    severity: 'page',
    expr: () => 'min by (instance) (svc_ready) == 0',
    for: '2m',
    meaning:
      'A process cannot answer requests: the database does not respond within 2 s, or its disk is full.',
    look: '`npm run --silent doctor` on the machine of the instance',
    action: 'Make the database reachable again: server, network, PgBouncer, `max_connections`.',
    broken: { series: [['svc_ready{instance="a"}', '0x20']], labels: { instance: 'a' } },
  },
  {
    name: 'Overloaded',
    severity: 'ticket',
    expr: ({ window }) => `sum by (environment, reason) (rate(svc_requests_shed_total[${window('5m')}])) > 0`,
    for: '5m',
    meaning: 'A process rejects requests with 503 to protect itself.',
    look: 'Panel "Overload": the reason is `event_loop`, `memory`, `requests` or `database`',
    action: 'Start more processes with `--role api`. For `database`, find the slow statements first.',
    broken: {
      series: [['svc_requests_shed_total{environment="live", reason="database"}', '0+60x20']],
      labels: { environment: 'live', reason: 'database' },
    },
  },
  {
    name: 'DatabasePoolWaits',
    severity: 'ticket',
    expr: () => 'max by (pool) (svc_database_pool{of="waiting"}) > 50',
    for: '5m',
    meaning: 'Transactions wait for a database connection.',
    look: 'Panel "Database pools", and `pg_stat_activity` for locks and long transactions',
    action:
      'End the transaction that blocks others. If no transaction does, raise DATABASE_POOL_SIZE or add processes.',
    broken: {
      series: [['svc_database_pool{pool="live", of="waiting"}', '200x20']],
      labels: { pool: 'live' },
    },
  },
  {
    name: 'LimitsInexact',
    severity: 'ticket',
    expr: () => 'min(svc_limits_exact) == 0',
    for: '5m',
    meaning: 'Redis is unavailable. Each process enforces its part of the rate limits.',
    look: '`npm run --silent doctor`, line Redis',
    action: 'Start Redis again. Requests continue meanwhile.',
    broken: { series: [['svc_limits_exact', '0x20']], labels: {} },
  },
  {
    name: 'WebhooksStopped',
    severity: 'page',
    expr: ({ window, seconds }) =>
      `max by (environment) (svc_queue_age_seconds{queue="webhooks"}) > ${seconds(60)} unless on (environment) (sum by (environment) (rate(svc_webhook_claims_total[${window('5m')}])) > 0)`,
    for: '1m',
    meaning: 'Webhooks are due, but no worker takes them.',
    look: 'Whether a process with the role `worker` runs, and its log',
    action: 'Start a process with `--role worker`. Nothing is lost: it delivers the backlog.',
    broken: {
      series: [['svc_queue_age_seconds{environment="live", queue="webhooks"}', '0+60x20']],
      labels: { environment: 'live' },
    },
  },
  {
    name: 'WebhooksFail',
    severity: 'ticket',
    expr: ({ window }) =>
      `sum by (environment) (rate(svc_webhook_attempts_total{outcome="failed"}[${window('15m')}])) / sum by (environment) (rate(svc_webhook_attempts_total[${window('15m')}])) > 0.5`,
    for: '5m',
    meaning:
      'More than half of the delivery attempts fail. Receivers cause that, or the network of the workers.',
    look: '`error` of recent attempts on the dashboard page "Deliveries": one receiver, or all',
    action: 'All receivers: check DNS, egress and the proxy of the workers. One receiver: tell its tenant.',
    broken: {
      series: [
        ['svc_webhook_attempts_total{environment="live", outcome="failed"}', '0+90x20'],
        ['svc_webhook_attempts_total{environment="live", outcome="succeeded"}', '0+10x20'],
      ],
      labels: { environment: 'live' },
    },
  },
  {
    name: 'WalletUpdatesLate',
    severity: 'ticket',
    expr: ({ seconds }) => `max by (environment) (svc_wallet_push_age_seconds) > ${seconds(300)}`,
    for: '5m',
    meaning: 'Apple devices get changes of passes late.',
    look: 'Panel "Wallet updates" by outcome, and the log for answers of APNs',
    action: 'Check the certificate or key for APNs. If outcomes are fine, start more workers.',
    broken: {
      series: [['svc_wallet_push_age_seconds{environment="live"}', '900x20']],
      labels: { environment: 'live' },
    },
  },
  {
    name: 'WorkFails',
    severity: 'ticket',
    expr: () =>
      'max by (environment, work) (svc_work_failing or label_replace(svc_webhook_queue_failing, "work", "webhooks", "", "") or label_replace(svc_wallet_queue_failing, "work", "apple", "", "") or label_replace(svc_google_failing, "work", "google", "", "")) == 1',
    for: '5m',
    meaning: 'A worker cannot use the database.',
    look: 'Log lines with the same `work` and `environment`',
    action: 'Fix what the log names. The worker continues by itself.',
    broken: {
      series: [['svc_work_failing{environment="live", work="settlements"}', '1x20']],
      labels: { environment: 'live', work: 'settlements' },
    },
  },
  {
    name: 'RowsSetAside',
    severity: 'ticket',
    expr: () => 'max by (environment, work) (svc_set_aside_rows) > 0',
    for: '15m',
    meaning: 'Work fails again and again for single rows. Other rows continue.',
    look: '`npm run --silent admin -- set-aside list`',
    action: 'Fix the cause, then run `admin set-aside retry`.',
    broken: {
      series: [['svc_set_aside_rows{environment="live", work="settlements"}', '3x20']],
      labels: { environment: 'live', work: 'settlements' },
    },
  },
  {
    name: 'TenantMoveUnfinished',
    severity: 'page',
    expr: ({ seconds }) => `max by (state) (svc_tenant_closed_seconds) > ${seconds(120)}`,
    for: '1m',
    meaning:
      'A move or an export has left a tenant closed for two minutes: `fenced` refuses its writes at the source, which usually opens it 30 seconds after the command was killed; `arriving` has not opened it at the target.',
    look: '`doctor`, line moves, which names the tenant, and whether the command still runs',
    action:
      'Run the same command again: it continues. To give up a move from the state `fenced`, add `--abort`. See [move.md](move.md).',
    broken: {
      series: [['svc_tenant_closed_seconds{state="fenced"}', '0+60x20']],
      labels: { state: 'fenced' },
    },
  },
  {
    name: 'ChainPayoutsLate',
    severity: 'page',
    expr: ({ seconds }) =>
      `max by (environment, queue) (svc_queue_age_seconds{queue=~"chain|chain_signing"}) > ${seconds(900)}`,
    for: '1m',
    meaning: 'A USDC payout is not final 15 minutes after it was made (`chain_signing`) or signed (`chain`).',
    look: '`npm run --silent admin -- chain status`, and `doctor`, lines chain and payouts’ signer',
    action:
      'Make the node at SVC_CHAIN_RPC_URL or the signer reachable, or transfer gas to the signer. Do not pay by hand: the worker continues with the same nonce.',
    broken: {
      series: [['svc_queue_age_seconds{environment="live", queue="chain"}', '0+60x20']],
      labels: { environment: 'live', queue: 'chain' },
    },
  },
  {
    name: 'BankPayoutsLate',
    severity: 'page',
    expr: ({ seconds }) => `max by (environment) (svc_queue_age_seconds{queue="bank"}) > ${seconds(900)}`,
    for: '1m',
    meaning: 'The bank has not accepted a dollar payout for 15 minutes.',
    look: '`doctor`, line bank, and `npm run --silent admin -- payout held-up`',
    action:
      'Check SVC_BANK_URL and SVC_BANK_TOKEN, then call the bank. Do not pay by hand: the worker repeats the request with the same reference.',
    broken: {
      series: [['svc_queue_age_seconds{environment="live", queue="bank"}', '0+60x20']],
      labels: { environment: 'live' },
    },
  },
  {
    name: 'PayoutsHeldUp',
    severity: 'ticket',
    expr: () => 'max by (environment, stage) (svc_payouts_held_up) > 0',
    for: '5m',
    meaning: 'Payouts wait for an operator.',
    look: '`npm run --silent admin -- payout held-up`',
    action:
      'Fix the named problem, then run `admin payout retry`, or `admin payout decide` if the bank or chain is contradictory.',
    broken: {
      series: [['svc_payouts_held_up{environment="live", stage="bank"}', '2x20']],
      labels: { environment: 'live', stage: 'bank' },
    },
  },
  {
    name: 'LedgerOrAuditLogBroken',
    severity: 'page',
    expr: () => 'max by (environment, of) (svc_verification_faults) > 0',
    for: '0s',
    meaning: 'A ledger is not balanced, or an audit log was changed.',
    look: 'The log line "Verification found a fault" names the tenant and the first row. Repeat it with `admin ledger verify` or `admin audit verify`',
    action:
      'Stop payouts of the tenant, keep a copy of the database, and find who wrote the row. Do not repair rows by hand.',
    broken: {
      series: [['svc_verification_faults{environment="live", of="ledger"}', '1x20']],
      labels: { environment: 'live', of: 'ledger' },
    },
  },
  {
    name: 'VerificationOverdue',
    severity: 'ticket',
    expr: ({ seconds }) => `time() - max(svc_verification_timestamp_seconds) > ${seconds(3 * DAY)}`,
    for: '5m',
    meaning: 'Ledgers and audit logs were not verified for three days.',
    look: 'Log lines "Verification failed" of the workers, and SVC_VERIFY_SECONDS',
    action:
      'Keep a worker running for a day, or run `admin ledger verify` and `admin audit verify` for each tenant.',
    broken: { series: [['svc_verification_timestamp_seconds', `${-LATER}x20`]], labels: {} },
  },
  {
    name: 'StorageFull',
    severity: 'page',
    expr: () => 'max(svc_storage_full) == 1',
    for: '0s',
    meaning: 'The disk of the database is full. Writes get 503.',
    look: 'Free space on the database server; panel "Replication" for slots that retain WAL',
    action: 'Add space. Do not delete files of PostgreSQL. The processes continue by themselves.',
    broken: { series: [['svc_storage_full', '1x20']], labels: {} },
  },
  {
    name: 'DiskLow',
    severity: 'page',
    expr: () => 'min by (instance) (svc_disk_free_ratio) < 0.1',
    for: '5m',
    meaning: 'Less than 10 % of the file system of DATA_DIR is free.',
    look: '`df` on the machine of the instance',
    action: 'Add space, or shorten SVC_EVENT_DAYS and SVC_SCAN_DAYS.',
    broken: { series: [['svc_disk_free_ratio{instance="a"}', '0.05x20']], labels: { instance: 'a' } },
  },
  {
    name: 'ReplicaLags',
    severity: 'ticket',
    expr: ({ seconds }) => `max by (replica) (svc_replica_lag_seconds) > ${seconds(60)}`,
    for: '5m',
    meaning: 'A replica is more than a minute behind. A failover to it loses that time.',
    look: '`pg_stat_replication` on the primary',
    action: 'Check the load, disk and network of the replica.',
    broken: { series: [['svc_replica_lag_seconds{replica="b"}', '300x20']], labels: { replica: 'b' } },
  },
  {
    name: 'SlotRetainsWal',
    severity: 'ticket',
    expr: () => 'max by (slot) (svc_replication_slot_bytes) > 10e9',
    for: '5m',
    meaning: 'A replication slot retains more than 10 GB of WAL, which fills the disk.',
    look: '`pg_replication_slots`: whether the slot is active',
    action: 'Start its replica again, or drop the slot with `pg_drop_replication_slot`.',
    broken: { series: [['svc_replication_slot_bytes{slot="b"}', '20000000000x20']], labels: { slot: 'b' } },
  },
  {
    name: 'ArchiveFails',
    severity: 'page',
    expr: () => 'max(svc_archive_failing) == 1',
    for: '5m',
    meaning: 'PostgreSQL cannot archive WAL. A restore loses what was written since.',
    look: '`pg_stat_archiver`, and the log of PostgreSQL',
    action: 'Fix the archive_command or its storage. PostgreSQL repeats it and keeps WAL meanwhile.',
    broken: { series: [['svc_archive_failing', '1x20']], labels: {} },
  },
  {
    name: 'ArchiveLate',
    severity: 'ticket',
    expr: ({ seconds }) => `time() - max(svc_archive_timestamp_seconds) > ${seconds(3600)}`,
    for: '5m',
    meaning:
      'No WAL segment was archived for an hour. Set archive_timeout to at most 15 min, so that an idle server archives too.',
    look: '`pg_stat_archiver`, and `SHOW archive_timeout`',
    action: 'As for ArchiveFails.',
    broken: { series: [['svc_archive_timestamp_seconds', `${-LATER}x20`]], labels: {} },
  },
  {
    name: 'CertificateExpiresSoon',
    severity: 'ticket',
    expr: () => `min by (certificate) (svc_certificate_expiry_timestamp_seconds) - time() < ${14 * DAY}`,
    for: '5m',
    meaning: 'A certificate expires within 14 days.',
    look: '`doctor`, lines TLS, Apple Wallet and card network',
    action: 'Renew it, and restart the processes that use it. Processors: `admin network certificate add`.',
    broken: {
      series: [['svc_certificate_expiry_timestamp_seconds{certificate="tls"}', `${7 * DAY}x20`]],
      labels: { certificate: 'tls' },
    },
  },
  {
    name: 'CertificateExpiresNow',
    severity: 'page',
    expr: () => `min by (certificate) (svc_certificate_expiry_timestamp_seconds) - time() < ${2 * DAY}`,
    for: '5m',
    meaning: 'A certificate expires within 2 days. Then connections fail, or passes cannot be signed.',
    look: 'As for CertificateExpiresSoon',
    action: 'As for CertificateExpiresSoon.',
    broken: {
      series: [['svc_certificate_expiry_timestamp_seconds{certificate="apple_pass"}', `${DAY}x20`]],
      labels: { certificate: 'apple_pass' },
    },
  },
]
