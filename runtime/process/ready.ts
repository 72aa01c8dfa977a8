import { type Chains, describeChain } from '../money/chain/open-chains.ts'
import type { Demo } from '../operator/demo.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'

/** Facts to print when the service is ready. */
export interface Ready {
  readonly baseUrls: BaseUrls
  /** Origin of the network listener; undefined if this process has none. */
  readonly networkUrl?: string | undefined
  /** Port for ISO 8583 messages; undefined if this process has none. */
  readonly isoPort?: number | undefined
  /** Origin of METRICS_PORT; undefined if this process does not open it. */
  readonly metricsUrl?: string | undefined
  readonly demo: Demo | undefined
  readonly chains: Chains['of']
  /** That live may use a test chain, or accepts simulated card messages. */
  readonly warnings: readonly string[]
}

/**
 * Formats one line of JSON. It has `keys` and `dashboard` only if this start created the demo tenant, `warnings`
 * only if live may use a test chain or accepts simulated card messages, and `network_url`, `iso8583_port` and `metrics_url`
 * only if this process has these ports.
 */
export function readyLine(ready: Omit<Ready, 'chains'>): string {
  const { baseUrls, networkUrl, isoPort, metricsUrl, demo, warnings } = ready
  const line = {
    ready: true,
    sandbox_base_url: baseUrls.sandbox,
    live_base_url: baseUrls.live,
    console_url: baseUrls.console,
    ...(networkUrl !== undefined && { network_url: networkUrl }),
    ...(isoPort !== undefined && { iso8583_port: isoPort }),
    ...(metricsUrl !== undefined && { metrics_url: metricsUrl }),
    auth_url: baseUrls.console,
    docs_url: `${baseUrls.console}/docs`,
    tenant_id: demo?.tenantId ?? null,
    ...(warnings.length > 0 && { warnings }),
    ...demo?.secrets,
  }
  return `${JSON.stringify(line)}\n`
}

/** Formats the same facts for people, with an example request. */
export function readyWords(ready: Ready): string {
  const { baseUrls, networkUrl, isoPort, metricsUrl, demo, chains, warnings } = ready
  const { keys, dashboard } = demo?.secrets ?? {}
  const rows: readonly (readonly [string, string])[] = [
    ['Sandbox API', baseUrls.sandbox],
    ['Live API', baseUrls.live],
    ['Console', baseUrls.console],
    ...(networkUrl === undefined ? [] : [['Network', networkUrl] as const]),
    ...(isoPort === undefined ? [] : [['ISO 8583', `port ${isoPort}`] as const]),
    ...(metricsUrl === undefined ? [] : [['Metrics', metricsUrl] as const]),
    ['Docs', `${baseUrls.console}/docs`],
    ['Sandbox chain', describeChain(chains.sandbox)],
    ['Live chain', describeChain(chains.live)],
    ...warnings.map((warning) => ['Warning', warning] as const),
    ...(demo ? [['Demo tenant', demo.tenantId] as const] : []),
    ...Object.entries(keys ?? {}).map(([name, value]) => [`Key ${name}`, value] as const),
    ...Object.entries(dashboard ?? {}).map(([name, value]) => [`Dashboard ${name}`, value] as const),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const once = keys ? ['', 'Save the keys and the password now: they are not shown again.'] : []
  return [
    'Ready.',
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    ...once,
    '',
    'Try:',
    '',
    `  curl ${baseUrls.sandbox}/v1/me -H 'Authorization: Bearer ${keys?.sandbox_secret ?? '<secret key>'}'`,
    '',
  ].join('\n')
}
