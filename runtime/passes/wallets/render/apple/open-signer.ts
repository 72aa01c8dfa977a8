import type { Logger } from 'pino'
import type { Settings } from '../../../../platform/settings.ts'
import type { Clock } from '../../../../tenants/clock/clock.ts'
import { createPassBuilder, type PassBuilder } from './build.ts'
import {
  type AppleSettings,
  type AppleSigner,
  DEVELOPMENT_ONLY,
  openAppleSigner,
  signerDays,
} from './signer.ts'

const RENEW_WITHIN_DAYS = 30

/**
 * Checks the signer at startup. Throws if its files are invalid; logs a warning if a certificate expires within 30
 * days.
 */
export function checkAppleSigner(settings: Settings, log: Logger, clock: Pick<Clock, 'machine'>): void {
  const now = clock.machine()
  const days = signerDays(openAppleSigner(settings, now), now)
  if (!settings.applePass && settings.production) log.warn(DEVELOPMENT_ONLY)
  else if (days < RENEW_WITHIN_DAYS) log.warn({ days }, 'the Apple Wallet certificate expires soon: renew it')
}

/** The signer and the file builder of both environments. Each is created at its first use. */
export interface Apple {
  signer(): AppleSigner
  builder(): PassBuilder
}

export function openApple(settings: AppleSettings, clock: Pick<Clock, 'machine'>): Apple {
  const signer = lazily(() => openAppleSigner(settings, clock.machine()))
  return { signer, builder: lazily(() => createPassBuilder(signer())) }
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
