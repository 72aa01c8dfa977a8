/** Under which origins callers reach the listeners of a deployment, also those that other processes have. */

import type { Database } from '../../database/database.ts'
import { type ProcessRole, type Settings, SettingsError } from '../../platform/settings.ts'
import { type Addresses, type ListenerName, readAddresses, saveAddress } from './queries.ts'

/** Origins of the three listeners, without a slash at the end. */
export type BaseUrls = Readonly<Record<ListenerName, string>>

export const LISTENERS = ['sandbox', 'live', 'console'] as const satisfies readonly ListenerName[]

/** The setting that declares each. */
export const VARIABLES = {
  sandbox: 'SANDBOX_BASE_URL',
  live: 'LIVE_BASE_URL',
  console: 'CONSOLE_BASE_URL',
} as const satisfies Record<ListenerName, string>

const ROLE_OF = { sandbox: 'api', live: 'api', console: 'console' } as const satisfies Record<
  ListenerName,
  ProcessRole
>

/** Listeners of other processes whose addresses neither the settings nor the deployment knows. */
export function missingAddresses(
  roles: ReadonlySet<ProcessRole>,
  settings: Settings['baseUrls'],
  kept: Addresses,
): readonly ListenerName[] {
  return LISTENERS.filter((name) => !roles.has(ROLE_OF[name]) && !(settings[name] ?? kept[name]))
}

/**
 * What is set counts, and is kept for all processes; then what another process was told; then where this process itself
 * listens; then where the process that served everything last listened. Throws `SettingsError` for a process that serves
 * a part and does not know the rest: its events and answers would hold links that lead nowhere.
 *
 * @param own origins of the listeners that this process has.
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
        problem: `is not known: a process that serves only ${[...roles].join(' and ')} needs the address under which callers reach the ${name === 'console' ? 'console' : `${name} API`}. Set it once; it is kept in the database for the other processes`,
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
