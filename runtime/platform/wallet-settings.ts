import type { SettingProblem } from './setting-readers.ts'

/** Who signs passes for Apple Wallet: paths of PEM files, and what the certificate shall be for. */
export interface ApplePassSettings {
  readonly certificate: string
  readonly key: string
  readonly keyPassword?: string
  /** The certificate of Apple's that the other was issued with. */
  readonly wwdr: string
  readonly passType?: string
  readonly team?: string
}

const FILES = ['APPLE_PASS_CERTIFICATE', 'APPLE_PASS_KEY', 'APPLE_PASS_WWDR'] as const
const BESIDES = ['APPLE_PASS_KEY_PASSWORD', 'APPLE_PASS_TYPE', 'APPLE_PASS_TEAM'] as const

/** Undefined where nothing is set. Three files go together; what is set besides needs them. */
export function readApplePass(
  env: Readonly<Record<string, string | undefined>>,
  problems: SettingProblem[],
): ApplePassSettings | undefined {
  if (![...FILES, ...BESIDES].some((variable) => env[variable])) return undefined
  const missing = FILES.filter((variable) => !env[variable])
  for (const variable of missing) {
    problems.push({ variable, problem: `is missing; ${FILES.join(', ')} go together` })
  }
  if (missing.length > 0) return undefined
  const [keyPassword, passType, team] = BESIDES.map((variable) => env[variable] || undefined)
  return {
    certificate: env.APPLE_PASS_CERTIFICATE!,
    key: env.APPLE_PASS_KEY!,
    wwdr: env.APPLE_PASS_WWDR!,
    ...(keyPassword !== undefined && { keyPassword }),
    ...(passType !== undefined && { passType }),
    ...(team !== undefined && { team }),
  }
}

/** Whom cards are encrypted to in phones' wallets: paths of PEM files. */
export interface PaySettings {
  /** Roots that the certificates of Apple's devices lead to. */
  readonly appleRoots?: string
  /** The public key of the card network, for Google Pay. */
  readonly googleKey?: string
}

export function readPay(env: Readonly<Record<string, string | undefined>>): PaySettings {
  const { APPLE_PAY_ROOTS: appleRoots, GOOGLE_PAY_KEY: googleKey } = env
  return { ...(appleRoots && { appleRoots }), ...(googleKey && { googleKey }) }
}

/** How Apple's push service is reached. */
export interface ApplePushSettings {
  /** An origin other than Apple's. */
  readonly url?: string
  /** Path of a .p8 file and what Apple calls it; absent: the certificate of passes proves who sends. */
  readonly key?: { readonly path: string; readonly id: string }
}

/** Undefined where nothing is set. @param production there a push goes over TLS. */
export function readApplePush(
  env: Readonly<Record<string, string | undefined>>,
  production: boolean,
  problems: SettingProblem[],
): ApplePushSettings | undefined {
  const { APPLE_PUSH_URL: url, APPLE_PUSH_KEY: path, APPLE_PUSH_KEY_ID: id } = env
  const origin = production ? /^https:\/\/[^/?#]+$/ : /^https?:\/\/[^/?#]+$/
  if (url && !(URL.canParse(url) && origin.test(url))) {
    problems.push({ variable: 'APPLE_PUSH_URL', problem: 'is no origin such as https://api.push.apple.com' })
  }
  if (Boolean(path) !== Boolean(id)) {
    const problem = 'is missing; APPLE_PUSH_KEY and APPLE_PUSH_KEY_ID go together'
    problems.push({ variable: path ? 'APPLE_PUSH_KEY_ID' : 'APPLE_PUSH_KEY', problem })
  }
  if (!url && !path) return undefined
  return { ...(url && { url }), ...(path && id && { key: { path, id } }) }
}
