import { DEVELOPMENT_ONLY, readSigner, signerDays } from '../../passes/wallets/render/apple/signer.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Renewing a certificate takes manual work in Apple's portal, and passes cannot be signed after it expires. */
const RENEW_WITHIN_DAYS = 30

/** Checks the signer of Apple Wallet passes and its expiry. @param now machine time. */
export function checkAppleWallet(
  { applePass, production }: Pick<Settings, 'applePass' | 'production'>,
  now: number,
): Finding {
  if (!applePass) {
    return production
      ? warn('Apple Wallet', DEVELOPMENT_ONLY)
      : ok('Apple Wallet', 'uses a development certificate chain')
  }
  try {
    const signer = readSigner(applePass, now)
    const { passTypeIdentifier, teamIdentifier } = signer.passType
    const days = signerDays(signer, now)
    const words = `${passTypeIdentifier} of team ${teamIdentifier}, ${days} days left`
    return days < RENEW_WITHIN_DAYS ? warn('Apple Wallet', `${words}: renew it`) : ok('Apple Wallet', words)
  } catch (error) {
    return fail('Apple Wallet', error)
  }
}
