/** The service level objectives. Rules, dashboard and runbook are made from them. */
export interface Objective {
  /** Part of rule names. */
  readonly id: string
  /** Beginning of the alert names. */
  readonly alert: string
  readonly title: string
  /** Share of good events, such as 0.999. */
  readonly target: number
  readonly good: string
  /** Share of bad events. @param range of `rate`. */
  readonly ratio: (range: string) => string
  readonly meaning: string
  readonly look: string
  readonly action: string
  /** Series in the notation of promtool that break the objective, and the labels of the alert. */
  readonly broken: {
    readonly series: readonly (readonly [series: string, values: string])[]
    readonly labels: Readonly<Record<string, string>>
  }
}

/** Days over which an objective is measured. */
export const OBJECTIVE_DAYS = 30

/**
 * Burn rates of the Google SRE workbook, chapter 5: 14.4 spends 2 % of the budget of 30 days in an hour, 6 spends 5 % in
 * six hours. The short range ends the alert soon after the problem.
 */
export const BURN_RATES = [
  { suffix: 'BurnsFast', rate: 14.4, long: '1h', short: '5m' },
  { suffix: 'BurnsSlow', rate: 6, long: '6h', short: '30m' },
] as const

export const OBJECTIVES: readonly Objective[] = [
  {
    id: 'availability',
    alert: 'Availability',
    title: 'Availability of the API',
    target: 0.999,
    good: 'Requests under `/v1` that get a response other than 5xx (501 counts as good), in each environment',
    ratio: (range) =>
      `sum by (environment) (rate(svc_requests_total{status=~"5..", status!="501"}[${range}])) / sum by (environment) (rate(svc_requests_total[${range}]))`,
    meaning: 'Clients get 5xx responses.',
    look: 'Panel "Requests by status", then the log lines with `status` 500 or 503; `/readyz` and `npm run --silent doctor`',
    action:
      '500: roll back the last release. 503: fix the database, or add processes if `svc_overloaded` is 1.',
    broken: {
      series: [
        ['svc_requests_total{environment="live", status="200"}', '0+90x20'],
        ['svc_requests_total{environment="live", status="503"}', '0+10x20'],
      ],
      labels: { environment: 'live' },
    },
  },
  {
    id: 'latency',
    alert: 'Latency',
    title: 'Latency of the API',
    target: 0.99,
    good: 'Requests under `/v1` whose response starts within 500 ms, in each environment',
    ratio: (range) =>
      `1 - sum by (environment) (rate(svc_request_duration_seconds_bucket{le="0.5"}[${range}])) / sum by (environment) (rate(svc_request_duration_seconds_count[${range}]))`,
    meaning: 'Responses are slow.',
    look: 'Panel "Latency by operation": one operation, or all; then "Database pools" and "Event loop and heap"',
    action:
      'All operations: find slow statements and locks in `pg_stat_activity`. One operation: find its tenant in the request log, and lower the tenant’s limits with `admin limit`.',
    broken: {
      series: [
        ['svc_request_duration_seconds_bucket{environment="live", le="0.5"}', '0+50x20'],
        ['svc_request_duration_seconds_count{environment="live"}', '0+100x20'],
      ],
      labels: { environment: 'live' },
    },
  },
  {
    id: 'webhook_delay',
    alert: 'WebhookDelay',
    title: 'Delay of webhooks',
    target: 0.95,
    good: 'Delivery attempts that start within 10 s of their due time, in each environment',
    ratio: (range) =>
      `1 - sum by (environment) (rate(svc_webhook_delay_seconds_bucket{le="10"}[${range}])) / sum by (environment) (rate(svc_webhook_delay_seconds_count[${range}]))`,
    meaning:
      'Webhooks start late. Attempts that wait for a slow receiver or for the rate of their tenant count too.',
    look: 'Panels "Webhook queue" and "Webhook attempts": whether attempts in progress reach the capacity, and whether one tenant causes the backlog',
    action:
      'Start more processes with `--role worker`. If one receiver causes the backlog, disable its endpoint.',
    broken: {
      series: [
        ['svc_webhook_delay_seconds_bucket{environment="live", le="10"}', '0+1x20'],
        ['svc_webhook_delay_seconds_count{environment="live"}', '0+100x20'],
      ],
      labels: { environment: 'live' },
    },
  },
  {
    id: 'card_messages',
    alert: 'CardMessages',
    title: 'Answers to card networks',
    target: 0.9995,
    good: 'Messages of card networks that do not get the answer `unavailable`, in each environment',
    ratio: (range) =>
      `sum by (environment) (rate(svc_network_messages_total{outcome="unavailable"}[${range}])) / sum by (environment) (rate(svc_network_messages_total[${range}]))`,
    meaning: 'Card networks decide authorizations themselves, because the service does not answer in time.',
    look: 'Panel "Card messages unavailable" by reason, then "Card message latency"',
    action:
      '`deadline`: find what slows down the database. `exchange`: check the decision endpoints of tenants. `overload`: start more processes with `--role network`.',
    broken: {
      series: [
        [
          'svc_network_messages_total{environment="live", kind="authorization", outcome="approved"}',
          '0+95x20',
        ],
        [
          'svc_network_messages_total{environment="live", kind="authorization", outcome="unavailable"}',
          '0+5x20',
        ],
      ],
      labels: { environment: 'live' },
    },
  },
]
