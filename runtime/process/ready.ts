import { type Chains, describeChain } from '../money/chain/open-chains.ts'
import type { Demo } from '../operator/demo.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'

/** What is told when everything answers. */
export interface Ready {
  readonly baseUrls: BaseUrls
  readonly demo: Demo | undefined
  readonly chains: Chains['of']
  /** Of `Chains`. */
  readonly warnings: readonly string[]
}

/**
 * One line of JSON. `keys` and `dashboard` are in it only when a start made the demo tenant, `warnings` only if a test chain is
 * allowed in live.
 */
export function readyLine({ baseUrls, demo, warnings }: Omit<Ready, 'chains'>): string {
  const line = {
    ready: true,
    sandbox_base_url: baseUrls.sandbox,
    live_base_url: baseUrls.live,
    console_url: baseUrls.console,
    auth_url: baseUrls.console,
    docs_url: `${baseUrls.console}/docs`,
    tenant_id: demo?.tenantId ?? null,
    ...(warnings.length > 0 && { warnings }),
    ...demo?.secrets,
  }
  return `${JSON.stringify(line)}\n`
}

/** The same in words, with a request to try. */
export function readyWords({ baseUrls, demo, chains, warnings }: Ready): string {
  const { keys, dashboard } = demo?.secrets ?? {}
  const rows: readonly (readonly [string, string])[] = [
    ['Sandbox API', baseUrls.sandbox],
    ['Live API', baseUrls.live],
    ['Console', baseUrls.console],
    ['Docs', `${baseUrls.console}/docs`],
    ['Sandbox chain', describeChain(chains.sandbox)],
    ['Live chain', describeChain(chains.live)],
    ...warnings.map((warning) => ['Warning', warning] as const),
    ...(demo ? [['Demo tenant', demo.tenantId] as const] : []),
    ...Object.entries(keys ?? {}).map(([name, value]) => [`Key ${name}`, value] as const),
    ...Object.entries(dashboard ?? {}).map(([name, value]) => [`Dashboard ${name}`, value] as const),
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const once = keys ? ['', 'Keys and password are shown this once.'] : []
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
