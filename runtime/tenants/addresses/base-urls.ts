/** Origins under which callers reach the listeners of a deployment, including listeners of other processes. */

import type { Database } from '../../database/database.ts'
import { type ProcessRole, type Settings, SettingsError } from '../../platform/settings.ts'
import { type Addresses, type ListenerName, readAddresses, saveAddress } from './queries.ts'

/** Origins of the three listeners, without a trailing slash. */
export type BaseUrls = Readonly<Record<ListenerName, string>>

export const LISTENERS = ['sandbox', 'live', 'console'] as const satisfies readonly ListenerName[]

/** Environment variable that sets the origin of each listener. */
export const VARIABLES = {
  sandbox: 'SANDBOX_BASE_URL',
  live: 'LIVE_BASE_URL',
  console: 'CONSOLE_BASE_URL',
} as const satisfies Record<ListenerName, string>

/** Origins that the OpenAPI documents name: those of a service with the default ports. */
const DOCUMENTED: Readonly<Record<string, ListenerName>> = {
  'http://127.0.0.1:4010': 'sandbox',
  'http://127.0.0.1:4020': 'live',
  'http://127.0.0.1:4000': 'console',
}

/** Returns a document, or a collection of its requests, with the origins of this deployment. */
export function withBaseUrls(text: string, baseUrls: BaseUrls): string {
  return text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, (origin) => {
    const listener = DOCUMENTED[origin]
    return listener === undefined ? origin : baseUrls[listener]
  })
}

const ROLE_OF = { sandbox: 'api', live: 'api', console: 'console' } as const satisfies Record<
  ListenerName,
  ProcessRole
>

/** Returns the listeners of other processes whose origin is neither in the settings nor in the database. */
export function missingAddresses(
  roles: ReadonlySet<ProcessRole>,
  settings: Settings['baseUrls'],
  kept: Addresses,
): readonly ListenerName[] {
  return LISTENERS.filter((name) => !roles.has(ROLE_OF[name]) && !(settings[name] ?? kept[name]))
}

/**
 * Resolves the origin of each listener. In order of precedence: the setting, which is stored for all processes; a
 * setting that a different process stored; the address on which this process listens; the address on which a process
 * with all roles last listened.
 *
 * @param own origins of the listeners of this process.
 * @throws SettingsError if a process with only some roles does not know the other origins: its events and answers
 * would contain broken links.
 */
export async function resolveBaseUrls(
  control: Database,
  { roles, baseUrls }: Pick<Settings, 'roles' | 'baseUrls'>,
  own: Partial<BaseUrls>,
): Promise<BaseUrls> {
  for (const name of LISTENERS) {
    const declared = baseUrls[name]
    if (declared !== undefined) await saveAddress(control, name, { base_url: declared, declared: true })
  }
  const kept = await readAddresses(control)
  const missing = missingAddresses(roles, baseUrls, kept)
  if (missing.length > 0) {
    throw new SettingsError(
      missing.map((name) => ({
        variable: VARIABLES[name],
        problem: `is not set: a process with only the role ${[...roles].join(' and ')} needs the URL of the ${name === 'console' ? 'dashboard' : `${name} API`}. Set it once; the database stores it for the other processes`,
      })),
    )
  }
  const resolve = (name: ListenerName) =>
    baseUrls[name] ??
    (kept[name]?.declared ? kept[name].base_url : undefined) ??
    own[name] ??
    kept[name]?.base_url ??
    ''
  const resolved = { sandbox: resolve('sandbox'), live: resolve('live'), console: resolve('console') }
  if (LISTENERS.every((name) => own[name] !== undefined)) {
    for (const name of LISTENERS)
      await saveAddress(control, name, { base_url: resolved[name], declared: false })
  }
  return resolved
}
