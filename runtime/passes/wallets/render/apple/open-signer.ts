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

/** Reads who signs passes before anything is answered: throws where it does not fit, warns where it will not for long. */
export function checkAppleSigner(settings: Settings, log: Logger, clock: Pick<Clock, 'machine'>): void {
  const now = clock.machine()
  const days = signerDays(openAppleSigner(settings, now), now)
  if (!settings.applePass && settings.production) log.warn(DEVELOPMENT_ONLY)
  else if (days < RENEW_WITHIN_DAYS)
    log.warn({ days }, 'the certificate for Apple Wallet ends soon: renew it')
}

/** Who signs, and what builds files, for both environments: each is made when it is first asked for. */
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
