import type { SettingVariables } from './setting-catalog.ts'
import type { SettingProblem } from './setting-readers.ts'

/** Signer of passes for Apple Wallet: paths of PEM files, and the pass type and team that the certificate must have. */
export interface ApplePassSettings {
  readonly certificate: string
  readonly key: string
  readonly keyPassword?: string
  /** Apple's intermediate certificate, which issued `certificate`. */
  readonly wwdr: string
  readonly passType?: string
  readonly team?: string
}

const FILES = ['APPLE_PASS_CERTIFICATE', 'APPLE_PASS_KEY', 'APPLE_PASS_WWDR'] as const
const OTHERS = ['APPLE_PASS_KEY_PASSWORD', 'APPLE_PASS_TYPE', 'APPLE_PASS_TEAM'] as const

/**
 * Reads the variables of the pass signer. Returns undefined if none is set. The three files must be set together, and
 * the other variables require them.
 */
export function readApplePass(
  env: SettingVariables,
  problems: SettingProblem[],
): ApplePassSettings | undefined {
  if (![...FILES, ...OTHERS].some((variable) => env[variable])) return undefined
  const missing = FILES.filter((variable) => !env[variable])
  for (const variable of missing) {
    problems.push({ variable, problem: `is missing: set all of ${FILES.join(', ')}, or none` })
  }
  if (missing.length > 0) return undefined
  const [keyPassword, passType, team] = OTHERS.map((variable) => env[variable] || undefined)
  return {
    certificate: env.APPLE_PASS_CERTIFICATE!,
    key: env.APPLE_PASS_KEY!,
    wwdr: env.APPLE_PASS_WWDR!,
    ...(keyPassword !== undefined && { keyPassword }),
    ...(passType !== undefined && { passType }),
    ...(team !== undefined && { team }),
  }
}

/** Keys for which cards are encrypted in phone wallets: paths of PEM files. */
export interface PaySettings {
  /** Root certificates of Apple devices. */
  readonly appleRoots?: string
  /** Public key of the card network, for Google Pay. */
  readonly googleKey?: string
}

export function readPay(env: SettingVariables): PaySettings {
  const { APPLE_PAY_ROOTS: appleRoots, GOOGLE_PAY_KEY: googleKey } = env
  return { ...(appleRoots && { appleRoots }), ...(googleKey && { googleKey }) }
}

/** Access to Apple's push service. */
export interface ApplePushSettings {
  /** Origin to use instead of Apple's. */
  readonly url?: string
  /** Path of a .p8 file and its key ID. If absent, the pass certificate authenticates the service. */
  readonly key?: { readonly path: string; readonly id: string }
}

/** Reads the variables of the push service. Returns undefined if none is set. @param production requires TLS. */
export function readApplePush(
  env: SettingVariables,
  production: boolean,
  problems: SettingProblem[],
): ApplePushSettings | undefined {
  const { APPLE_PUSH_URL: url, APPLE_PUSH_KEY: path, APPLE_PUSH_KEY_ID: id } = env
  const origin = production ? /^https:\/\/[^/?#]+$/ : /^https?:\/\/[^/?#]+$/
  if (url && !(URL.canParse(url) && origin.test(url))) {
    problems.push({
      variable: 'APPLE_PUSH_URL',
      problem: 'is not an origin: expected a URL such as https://api.push.apple.com',
    })
  }
  if (Boolean(path) !== Boolean(id)) {
    const problem = 'is missing: set both APPLE_PUSH_KEY and APPLE_PUSH_KEY_ID, or neither'
    problems.push({ variable: path ? 'APPLE_PUSH_KEY_ID' : 'APPLE_PUSH_KEY', problem })
  }
  if (!url && !path) return undefined
  return { ...(url && { url }), ...(path && id && { key: { path, id } }) }
}
