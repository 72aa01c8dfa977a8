import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { messageOf } from '../../../../database/errors.ts'
import type { ApplePassSettings } from '../../../../platform/wallet-settings.ts'
import { developmentFiles } from './development.ts'
import type { PassType } from './pass-json.ts'

export interface AppleSigner {
  /** The pass type certificate, and the Apple certificate that issued it. */
  readonly chain: readonly [X509Certificate, X509Certificate]
  readonly key: KeyObject
  readonly passType: PassType
  /** Signs with RSASSA-PKCS1-v1_5 and SHA-256, in the libuv thread pool. */
  sign(bytes: Buffer): Promise<Buffer>
}

export interface AppleSettings {
  readonly dataDir: string
  /** Absent for development: a chain in the data directory is used instead. */
  readonly applePass?: ApplePassSettings
}

const signAsync = promisify(sign)

/**
 * Reads the signer, or creates a development chain in the data directory. Blocks, so call it only at the start of a
 * process. Throws an error that names the invalid setting and the remedy.
 *
 * @param now machine time in milliseconds since the epoch.
 */
export function openAppleSigner({ dataDir, applePass }: AppleSettings, now: number): AppleSigner {
  return readSigner(applePass ?? developmentFiles(dataDir, now), now)
}

/** Reads the signer from existing files; writes nothing. Throws like `openAppleSigner`. */
export function readSigner(files: ApplePassSettings, now: number): AppleSigner {
  const certificate = readCertificate('APPLE_PASS_CERTIFICATE', files.certificate)
  const wwdr = readCertificate('APPLE_PASS_WWDR', files.wwdr)
  const key = readKey(files)
  checkLife('APPLE_PASS_CERTIFICATE', files.certificate, certificate, now)
  checkLife('APPLE_PASS_WWDR', files.wwdr, wwdr, now)
  if (!certificate.checkPrivateKey(key)) {
    throw wrong('APPLE_PASS_KEY', files.key, `does not belong to the certificate ${files.certificate}`)
  }
  if (!certificate.checkIssued(wwdr) || !certificate.verify(wwdr.publicKey)) {
    const issuer = certificate.issuer.replaceAll('\n', ', ')
    throw wrong(
      'APPLE_PASS_WWDR',
      files.wwdr,
      `did not issue ${files.certificate}: expected the certificate of ${issuer}`,
    )
  }
  return {
    chain: [certificate, wwdr],
    key,
    passType: readPassType(files, certificate),
    sign: (bytes) => signAsync('RSA-SHA256', bytes, key),
  }
}

/** Returns the whole days until the first certificate of the chain expires. @param now machine time. */
export function signerDays({ chain }: AppleSigner, now: number): number {
  return Math.floor((Math.min(...chain.map(({ validToDate }) => validToDate.getTime())) - now) / 86_400_000)
}

/** Warning for production without Apple settings. */
export const DEVELOPMENT_ONLY =
  'APPLE_PASS_CERTIFICATE is not set: passes are signed with a development certificate, which no device accepts'

function wrong(variable: string, path: string, problem: string, cause?: unknown): Error {
  return new Error(`${variable}: ${path} ${problem}`, { cause })
}

function readFile(variable: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw wrong(variable, path, `cannot be read: ${messageOf(cause)}`, cause)
  }
}

function readCertificate(variable: string, path: string): X509Certificate {
  const bytes = readFile(variable, path)
  try {
    return new X509Certificate(bytes)
  } catch (cause) {
    throw wrong(variable, path, `is not a PEM or DER certificate: ${messageOf(cause)}`, cause)
  }
}

function readKey({ key: path, keyPassword }: ApplePassSettings): KeyObject {
  const pem = readFile('APPLE_PASS_KEY', path)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: pem, ...(keyPassword !== undefined && { passphrase: keyPassword }) })
  } catch (cause) {
    const remedy = 'is not a PEM private key, or APPLE_PASS_KEY_PASSWORD does not match'
    throw wrong('APPLE_PASS_KEY', path, `${remedy}: ${messageOf(cause)}`, cause)
  }
  if (key.asymmetricKeyType === 'rsa') return key
  throw wrong(
    'APPLE_PASS_KEY',
    path,
    `is a key of type ${key.asymmetricKeyType}: expected RSA, the type of Apple's pass certificates`,
  )
}

function checkLife(variable: string, path: string, certificate: X509Certificate, now: number): void {
  const { validFromDate, validToDate } = certificate
  if (now < validFromDate.getTime()) {
    throw wrong(variable, path, `is not valid before ${validFromDate.toISOString()}: check the system clock`)
  }
  if (now > validToDate.getTime()) {
    throw wrong(variable, path, `expired at ${validToDate.toISOString()}: get a new certificate from Apple`)
  }
}

/** Returns the pass type and team, which are the UID and OU of the certificate (Apple, "Building a Pass"). */
function readPassType(files: ApplePassSettings, certificate: X509Certificate): PassType {
  const { UID: passType, OU: team } = certificate.toLegacyObject().subject as unknown as Record<
    string,
    unknown
  >
  if (typeof passType !== 'string' || typeof team !== 'string') {
    const problem = 'is not a pass type certificate: its subject has no UID or no OU'
    throw wrong('APPLE_PASS_CERTIFICATE', files.certificate, problem)
  }
  const given = [
    ['APPLE_PASS_TYPE', files.passType, passType],
    ['APPLE_PASS_TEAM', files.team, team],
  ] as const
  for (const [variable, wanted, found] of given) {
    if (wanted !== undefined && wanted !== found) {
      throw new Error(`${variable}: "${wanted}", but the certificate ${files.certificate} is for "${found}"`)
    }
  }
  return { passTypeIdentifier: passType, teamIdentifier: team }
}
