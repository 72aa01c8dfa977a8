import type { SettingProblem } from './settings.ts'

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
