/** SIGHUP: uses rotated certificates and database passwords without a restart. */
import type { Logger } from 'pino'
import { messageOf } from '../database/errors.ts'
import { withSecretFiles } from '../platform/secret-files.ts'
import { SETTING_NAMES, type SettingName, type SettingVariables } from '../platform/setting-catalog.ts'
import { type Flags, readSettings } from '../platform/settings.ts'
import type { RunningService } from './compose.ts'

/** Secrets that `RunningService.renew` applies. */
const RENEWED: ReadonlySet<SettingName> = new Set(['DATABASE_URL', 'DATABASE_LISTEN_URL'])

export interface ReloadParts {
  readonly env: SettingVariables
  readonly flags: Flags
  readonly service: Pick<RunningService, 'renew'>
  readonly log: Logger
}

/**
 * Returns a function that reads the files of secrets and certificates again. If one of them cannot be used, the process
 * keeps the ones that it has, and logs why. It names each changed secret that only a restart applies.
 */
export function createReload({ env, flags, service, log }: ReloadParts): () => void {
  const atStart = withSecretFiles(env).variables
  return () => {
    try {
      const settings = readSettings(env, flags)
      service.renew(settings)
      const { variables } = withSecretFiles(env)
      const late = SETTING_NAMES.filter((name) => variables[name] !== atStart[name] && !RENEWED.has(name))
      log.info('Reloaded the TLS certificates and the database password')
      if (late.length > 0) log.warn(`Restart the process to use the new value of ${late.join(', ')}`)
    } catch (error) {
      log.error(`Not everything was reloaded: ${messageOf(error)}`)
    }
  }
}
