/** Prometheus rules, and their tests for `promtool test rules`. */
import { stringify } from 'yaml'
import { ALERTS } from './alerts.ts'
import { BURN_RATES, OBJECTIVES, type Objective } from './objectives.ts'
import { createTimescale, type Timescale } from './timescale.ts'

const HEAD = '# `npm run deploy:watch` generates this file from deploy/watch.\n'

/** The runbook, as it is named in the annotations of alerts. */
const RUNBOOK = 'docs/operations/slo.md'

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly action: string; readonly runbook: string }
}

/** Name of the recorded ratio of bad events. @param range as in production, such as `5m`. */
export function ratioName({ id }: Pick<Objective, 'id'>, range: string): string {
  return `slo:${id}:bad_ratio_${range}`
}

const RANGES = BURN_RATES.flatMap(({ short, long }) => [short, long])

function annotate(name: string, meaning: string, action: string): AlertRule['annotations'] {
  return { summary: meaning, action, runbook: `${RUNBOOK}#${name.toLowerCase()}` }
}

function burnAlerts(objective: Objective, { window }: Timescale): readonly AlertRule[] {
  const budget = 1 - objective.target
  return BURN_RATES.map(({ suffix, rate, long, short }) => {
    const name = `${objective.alert}${suffix}`
    const threshold = Number((rate * budget).toPrecision(6))
    return {
      alert: name,
      expr: [long, short].map((range) => `${ratioName(objective, range)} > ${threshold}`).join(' and '),
      for: window('1m'),
      labels: { severity: 'page' },
      annotations: annotate(name, objective.meaning, objective.action),
    }
  })
}

/** Returns the rules as data. @param time the timescale of production, unless a proof shortens it. */
function createRules(time: Timescale): object {
  return {
    groups: [
      {
        name: 'objectives',
        rules: OBJECTIVES.flatMap((objective) =>
          RANGES.map((range) => ({
            record: ratioName(objective, range),
            expr: objective.ratio(time.window(range)),
          })),
        ),
      },
      { name: 'burn rates', rules: OBJECTIVES.flatMap((objective) => burnAlerts(objective, time)) },
      {
        name: 'alerts',
        rules: ALERTS.map(
          (alert): AlertRule => ({
            alert: alert.name,
            expr: alert.expr(time),
            for: time.window(alert.for),
            labels: { severity: alert.severity },
            annotations: annotate(alert.name, alert.meaning, alert.action),
          }),
        ),
      },
    ],
  }
}

/** Writes the rules file. @param divisor shortens all durations, for proofs. */
export function writeRules(divisor = 1): string {
  return HEAD + stringify(createRules(createTimescale(divisor)), { lineWidth: 0 })
}

/** Time between samples and between evaluations. Shorter ones make the tests slow. */
const INTERVAL = '2m'

/** Later than every alert of a broken series. Rates over longer ranges use the samples so far. */
const TESTED_AT = '40m'

/** Writes the tests: every alert fires for its broken series, and none fires for healthy ones. */
export function writeRuleTests(): string {
  const time = createTimescale(1)
  const cases = [
    ...OBJECTIVES.flatMap((objective) =>
      burnAlerts(objective, time).map((rule) => ({ rule, broken: objective.broken })),
    ),
    ...ALERTS.map(({ name, severity, meaning, action, broken }) => ({
      rule: { alert: name, labels: { severity }, annotations: annotate(name, meaning, action) },
      broken,
    })),
  ]
  const tests = cases.map(({ rule, broken }) => ({
    name: `${rule.alert} fires`,
    interval: INTERVAL,
    input_series: broken.series.map(([series, values]) => ({ series, values })),
    alert_rule_test: [
      {
        eval_time: TESTED_AT,
        alertname: rule.alert,
        exp_alerts: [{ exp_labels: { ...rule.labels, ...broken.labels }, exp_annotations: rule.annotations }],
      },
    ],
  }))
  const quiet = {
    name: 'healthy series fire nothing',
    interval: INTERVAL,
    input_series: HEALTHY.map(([series, values]) => ({ series, values })),
    alert_rule_test: cases.map(({ rule }) => ({
      eval_time: TESTED_AT,
      alertname: rule.alert,
      exp_alerts: [],
    })),
  }
  return (
    HEAD +
    stringify(
      { rule_files: ['alerts.yml'], evaluation_interval: INTERVAL, tests: [quiet, ...tests] },
      { lineWidth: 0 },
    )
  )
}

/** A deployment that meets its objectives, with a few errors and a short backlog. */
const HEALTHY: readonly (readonly [series: string, values: string])[] = [
  ['up{job="dateline", instance="a"}', '1x20'],
  ['svc_ready{instance="a"}', '1x20'],
  ['svc_requests_total{environment="live", status="200"}', '0+9999x20'],
  ['svc_requests_total{environment="live", status="404"}', '0+500x20'],
  ['svc_requests_total{environment="live", status="501"}', '0+500x20'],
  ['svc_requests_total{environment="live", status="500"}', '0+1x20'],
  ['svc_request_duration_seconds_bucket{environment="live", le="0.5"}', '0+999x20'],
  ['svc_request_duration_seconds_count{environment="live"}', '0+1000x20'],
  ['svc_webhook_delay_seconds_bucket{environment="live", le="10"}', '0+99x20'],
  ['svc_webhook_delay_seconds_count{environment="live"}', '0+100x20'],
  // One slow receiver: its attempts wait, but those of others are claimed.
  ['svc_queue_age_seconds{environment="live", queue="webhooks"}', '600x20'],
  ['svc_webhook_claims_total{environment="live"}', '0+60x20'],
  ['svc_webhook_attempts_total{environment="live", outcome="failed"}', '0+10x20'],
  ['svc_webhook_attempts_total{environment="live", outcome="succeeded"}', '0+90x20'],
  ['svc_network_messages_total{environment="live", kind="authorization", outcome="approved"}', '0+10000x20'],
  ['svc_network_messages_total{environment="live", kind="authorization", outcome="unavailable"}', '0+1x20'],
  ['svc_queue_age_seconds{environment="live", queue="chain"}', '60x20'],
  ['svc_queue_age_seconds{environment="live", queue="bank"}', '60x20'],
  ['svc_verification_faults{environment="live", of="ledger"}', '0x20'],
  ['svc_certificate_expiry_timestamp_seconds{certificate="tls"}', '7776000x20'],
  ['svc_disk_free_ratio{instance="a"}', '0.5x20'],
  ['svc_work_failing{environment="live", work="settlements"}', '0x20'],
]
