import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { messageOf } from '../../../../database/errors.ts'
import type { ApplePassSettings } from '../../../../platform/wallet-settings.ts'
import { developmentFiles } from './development.ts'
import type { PassType } from './pass-json.ts'

/** Who signs passes for Apple Wallet. */
export interface AppleSigner {
  /** The certificate of the pass type, and Apple's that it was issued with. */
  readonly chain: readonly [X509Certificate, X509Certificate]
  readonly key: KeyObject
  readonly passType: PassType
  /** RSASSA-PKCS1-v1_5 with SHA-256, on a thread of its own. */
  sign(bytes: Buffer): Promise<Buffer>
}

export interface AppleSettings {
  readonly dataDir: string
  /** Absent: a chain of our own, for development. */
  readonly applePass?: ApplePassSettings
}

const signAsync = promisify(sign)

/**
 * Reads who signs, or makes a chain below the data directory. Blocks: for the start of a process. Throws an error that names the
 * setting and says what to do where one does not fit.
 *
 * @param now machine time, milliseconds since the epoch.
 */
export function openAppleSigner({ dataDir, applePass }: AppleSettings, now: number): AppleSigner {
  return readSigner(applePass ?? developmentFiles(dataDir, now), now)
}

/** The same of files that are there. Changes nothing. */
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
    throw wrong('APPLE_PASS_WWDR', files.wwdr, `did not issue ${files.certificate}: take that of ${issuer}`)
  }
  return {
    chain: [certificate, wwdr],
    key,
    passType: readPassType(files, certificate),
    sign: (bytes) => signAsync('RSA-SHA256', bytes, key),
  }
}

/** Whole days until the first certificate of the chain ends. @param now machine time. */
export function signerDays({ chain }: AppleSigner, now: number): number {
  return Math.floor((Math.min(...chain.map(({ validToDate }) => validToDate.getTime())) - now) / 86_400_000)
}

/** What is to be said in production where nothing is set. */
export const DEVELOPMENT_ONLY =
  'APPLE_PASS_CERTIFICATE is not set: passes are signed by a chain of this installation, which no device accepts'

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
    throw wrong(variable, path, `is no certificate, as PEM or DER: ${messageOf(cause)}`, cause)
  }
}

function readKey({ key: path, keyPassword }: ApplePassSettings): KeyObject {
  const pem = readFile('APPLE_PASS_KEY', path)
  let key: KeyObject
  try {
    key = createPrivateKey({ key: pem, ...(keyPassword !== undefined && { passphrase: keyPassword }) })
  } catch (cause) {
    const remedy = 'is no private key as PEM, or APPLE_PASS_KEY_PASSWORD does not open it'
    throw wrong('APPLE_PASS_KEY', path, `${remedy}: ${messageOf(cause)}`, cause)
  }
  if (key.asymmetricKeyType === 'rsa') return key
  throw wrong('APPLE_PASS_KEY', path, `is of the type ${key.asymmetricKeyType}: Apple issues passes' for RSA`)
}

function checkLife(variable: string, path: string, certificate: X509Certificate, now: number): void {
  const { validFromDate, validToDate } = certificate
  if (now < validFromDate.getTime()) {
    throw wrong(variable, path, `is not valid before ${validFromDate.toISOString()}: is the clock right?`)
  }
  if (now > validToDate.getTime()) {
    throw wrong(variable, path, `expired at ${validToDate.toISOString()}: get another from Apple`)
  }
}

/** A pass type and its team stand in the certificate as UID and OU (Apple, "Building a Pass"). */
function readPassType(files: ApplePassSettings, certificate: X509Certificate): PassType {
  const { UID: passType, OU: team } = certificate.toLegacyObject().subject as unknown as Record<
    string,
    unknown
  >
  if (typeof passType !== 'string' || typeof team !== 'string') {
    const problem = 'is for no pass type: its subject has no UID or no OU'
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
