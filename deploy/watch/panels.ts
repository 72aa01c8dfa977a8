/** The panels of the dashboard. Every metric of the service is in a panel or in a rule. */
import { OBJECTIVES } from './objectives.ts'
import { ratioName } from './rules.ts'

export interface WatchPanel {
  readonly title: string
  /** Unit of Grafana. */
  readonly unit: 'percentunit' | 's' | 'bytes' | 'reqps' | 'ops' | 'short' | 'dateTimeFromNow'
  /** Queries, and the legends of their series. */
  readonly queries: readonly (readonly [expr: string, legend: string])[]
}

const RANGE = '$__rate_interval'

const rate = (metric: string, by: string): readonly [string, string] => [
  `sum by (${by}) (rate(${metric}[${RANGE}]))`,
  by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' '),
]
const quantile = (metric: string, by: string): readonly [string, string] => [
  `histogram_quantile(0.99, sum by (le, ${by}) (rate(${metric}_bucket[${RANGE}])))`,
  `{{${by}}}`,
]
const most = (metric: string, by: string): readonly [string, string] => [
  `max by (${by}) (${metric})`,
  by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' '),
]

export const PANEL_ROWS: readonly { readonly title: string; readonly panels: readonly WatchPanel[] }[] = [
  {
    title: 'Objectives',
    panels: [
      ...OBJECTIVES.map(
        (objective): WatchPanel => ({
          title: `${objective.title}: bad events`,
          unit: 'percentunit',
          queries: [
            [ratioName(objective, '5m'), '{{environment}} 5m'],
            [ratioName(objective, '1h'), '{{environment}} 1h'],
            [`vector(${Number((1 - objective.target).toPrecision(6))})`, 'budget'],
          ],
        }),
      ),
      {
        title: 'Processes',
        unit: 'short',
        queries: [
          ['up{job="dateline"}', 'up {{instance}}'],
          ['svc_ready', 'ready {{instance}}'],
        ],
      },
      {
        title: 'Alerts',
        unit: 'short',
        queries: [['sum by (alertname) (ALERTS{alertstate="firing"})', '{{alertname}}']],
      },
    ],
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        queries: [rate('svc_requests_total', 'environment, status')],
      },
      { title: 'Requests by version', unit: 'reqps', queries: [rate('svc_requests_total', 'version')] },
      {
        title: 'Latency by operation (p99)',
        unit: 's',
        queries: [quantile('svc_request_duration_seconds', 'operation')],
      },
      {
        title: 'Requests in progress',
        unit: 'short',
        queries: [['sum by (environment) (svc_requests_under_way)', '{{environment}}']],
      },
      {
        title: 'Aborted, expired and unreadable',
        unit: 'reqps',
        queries: [
          [`sum(rate(svc_requests_aborted_total[${RANGE}]))`, 'aborted'],
          [`sum(rate(svc_requests_expired_total[${RANGE}]))`, 'expired'],
          [`sum by (reason) (rate(svc_unreadable_total[${RANGE}]))`, 'unreadable {{reason}}'],
        ],
      },
      { title: 'Rate limited', unit: 'reqps', queries: [rate('svc_rate_limited_total', 'bucket')] },
      {
        title: 'Limits shared through Redis',
        unit: 'short',
        queries: [
          ['min(svc_limits_exact)', 'exact'],
          ['max(svc_limits_nodes)', 'nodes'],
          [`sum(rate(svc_limits_alone_total[${RANGE}]))`, 'alone'],
          ['sum(svc_limits_fallbacks_total)', 'fallbacks'],
        ],
      },
      {
        title: 'Second factors paused',
        unit: 'ops',
        queries: [[`sum(rate(svc_factor_pauses_total[${RANGE}]))`, 'pauses']],
      },
    ],
  },
  {
    title: 'Webhooks and wallets',
    panels: [
      {
        title: 'Webhook queue',
        unit: 's',
        queries: [
          ['max by (environment) (svc_queue_age_seconds{queue="webhooks"})', 'oldest {{environment}}'],
          ['max by (environment) (svc_webhook_lateness_seconds)', 'last claimed {{environment}}'],
          quantile('svc_webhook_delay_seconds', 'environment'),
        ],
      },
      {
        title: 'Webhook attempts',
        unit: 'ops',
        queries: [
          rate('svc_webhook_attempts_total', 'environment, outcome'),
          rate('svc_webhook_claims_total', 'environment'),
        ],
      },
      {
        title: 'Webhook attempts in progress',
        unit: 'short',
        queries: [
          ['sum by (environment) (svc_webhook_attempts_under_way)', 'in progress {{environment}}'],
          ['sum by (environment) (svc_webhook_capacity)', 'capacity {{environment}}'],
        ],
      },
      {
        title: 'Wallet updates',
        unit: 'ops',
        queries: [
          rate('svc_wallet_pushes_total', 'environment, outcome'),
          rate('svc_google_resources_total', 'environment, outcome'),
          rate('svc_google_visits_total', 'environment, outcome'),
        ],
      },
      {
        title: 'Wallet queues',
        unit: 'short',
        queries: [
          ['max by (environment) (svc_wallet_push_age_seconds)', 'Apple age in s {{environment}}'],
          ['sum by (environment) (svc_wallet_push_tenants)', 'Apple tenants {{environment}}'],
          ['sum by (environment) (svc_wallet_pushes_under_way)', 'Apple in progress {{environment}}'],
          ['max by (environment) (svc_google_events_behind)', 'Google events {{environment}}'],
        ],
      },
    ],
  },
  {
    title: 'Work and money',
    panels: [
      { title: 'Turns of workers', unit: 'ops', queries: [rate('svc_work_turns_total', 'work, outcome')] },
      {
        title: 'Waiting and failing work',
        unit: 'short',
        queries: [
          ['sum by (work) (svc_work_waiting)', 'waiting {{work}}'],
          ['max by (work) (svc_work_failing)', 'failing {{work}}'],
          ['max(svc_webhook_queue_failing)', 'failing webhooks'],
          ['max(svc_wallet_queue_failing)', 'failing Apple'],
          ['max(svc_google_failing)', 'failing Google'],
        ],
      },
      { title: 'Rows set aside', unit: 'short', queries: [most('svc_set_aside_rows', 'environment, work')] },
      {
        title: 'Payouts: oldest',
        unit: 's',
        queries: [
          [
            'max by (environment, queue) (svc_queue_age_seconds{queue!="webhooks"})',
            '{{environment}} {{queue}}',
          ],
        ],
      },
      {
        title: 'Payouts held up',
        unit: 'short',
        queries: [most('svc_payouts_held_up', 'environment, stage')],
      },
      {
        title: 'Verification faults',
        unit: 'short',
        queries: [most('svc_verification_faults', 'environment, of')],
      },
      {
        title: 'Last verification',
        unit: 'dateTimeFromNow',
        queries: [['max(svc_verification_timestamp_seconds) * 1000', 'verified']],
      },
    ],
  },
  {
    title: 'Card network',
    panels: [
      { title: 'Card messages', unit: 'ops', queries: [rate('svc_network_messages_total', 'kind, outcome')] },
      {
        title: 'Card message latency (p99)',
        unit: 's',
        queries: [quantile('svc_network_message_duration_seconds', 'kind')],
      },
      {
        title: 'Card messages unavailable',
        unit: 'ops',
        queries: [rate('svc_network_unavailable_total', 'reason')],
      },
      { title: 'Card messages refused', unit: 'ops', queries: [rate('svc_network_refused_total', 'code')] },
      {
        title: 'Card messages in progress',
        unit: 'short',
        queries: [['sum(svc_network_messages_under_way)', 'in progress']],
      },
    ],
  },
  {
    title: 'Database and machine',
    panels: [
      { title: 'Database pools', unit: 'short', queries: [most('svc_database_pool', 'pool, of')] },
      { title: 'Database size', unit: 'bytes', queries: [['max(svc_database_bytes)', 'size']] },
      {
        title: 'Free disk',
        unit: 'percentunit',
        queries: [most('svc_disk_free_ratio', 'instance'), ['max(svc_storage_full)', 'database is full']],
      },
      {
        title: 'Replication',
        unit: 'bytes',
        queries: [
          ['max by (replica) (svc_replica_lag_bytes)', 'replica {{replica}}'],
          ['max by (slot) (svc_replication_slot_bytes)', 'slot {{slot}}'],
        ],
      },
      { title: 'Replica lag', unit: 's', queries: [most('svc_replica_lag_seconds', 'replica')] },
      {
        title: 'WAL archiving',
        unit: 's',
        queries: [
          ['time() - max(svc_archive_timestamp_seconds)', 'age of the last segment'],
          ['max(svc_archive_failures)', 'failures'],
          ['max(svc_archive_failing)', 'failing'],
        ],
      },
      {
        title: 'Certificates',
        unit: 's',
        queries: [
          ['min by (certificate) (svc_certificate_expiry_timestamp_seconds) - time()', '{{certificate}}'],
        ],
      },
      {
        title: 'Event loop and heap',
        unit: 'short',
        queries: [
          ['max by (instance) (svc_event_loop_late_seconds)', 'late {{instance}}'],
          ['max by (instance) (svc_heap_used_ratio)', 'heap {{instance}}'],
        ],
      },
      {
        title: 'Overload',
        unit: 'short',
        queries: [rate('svc_requests_shed_total', 'environment, reason'), most('svc_overloaded', 'instance')],
      },
      {
        title: 'Request log',
        unit: 'short',
        queries: [
          ['sum by (environment) (svc_request_log_waiting_bytes)', 'waiting bytes {{environment}}'],
          [`sum by (reason) (rate(svc_request_log_dropped_total[${RANGE}]))`, 'dropped {{reason}}'],
          [`sum(rate(svc_touched_changes_dropped_total[${RANGE}]))`, 'dropped version counts'],
        ],
      },
    ],
  },
]
