import { DEVELOPMENT_ONLY, readSigner, signerDays } from '../../passes/wallets/render/apple/signer.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** A certificate takes people at Apple's portal, and passes have to be signed the day it ends. */
const RENEW_WITHIN_DAYS = 30

/** Who signs passes for Apple Wallet, and for how long. @param now machine time. */
export function checkAppleWallet(
  { applePass, production }: Pick<Settings, 'applePass' | 'production'>,
  now: number,
): Finding {
  if (!applePass) {
    return production ? warn('Apple Wallet', DEVELOPMENT_ONLY) : ok('Apple Wallet', 'a chain for development')
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
