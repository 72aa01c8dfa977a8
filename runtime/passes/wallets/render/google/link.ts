/**
 * Builds the link that saves a pass to Google Wallet (Google Wallet, "JWT"), from the pass and the stored part of the
 * link.
 */
import type { PassKind } from '../pass-state.ts'
import { GOOGLE_KINDS } from './kinds.ts'

/** The pass that a link refers to. */
export interface LinkedPass {
  readonly id: string
  readonly templateId: string
  readonly kind: string
}

/** The signer and the time of the signature, in seconds since the epoch. */
export interface Signing {
  /** Google Wallet issuer ID: digits. */
  readonly issuerId: string
  /** Email address of the service account, without spaces. */
  readonly email: string
  readonly at: number
}

const HEADER = encode('{"alg":"RS256","typ":"JWT"}')

/** Returns the JWT member that lists objects of a kind (Google Wallet, "JWT", payload). */
function objectsOf(kind: string): string {
  const { objects } = GOOGLE_KINDS[kind as PassKind] ?? GOOGLE_KINDS.generic
  return `${objects}s`
}

function encode(json: string): string {
  return Buffer.from(json).toString('base64url')
}

/**
 * Returns the text to sign. Stored links are rebuilt from it, so its output must never change. It is concatenated by
 * hand for speed, because a list contains up to 100 links; IDs contain no characters that JSON escapes.
 */
export function textToSign({ id, templateId, kind }: LinkedPass, { issuerId, email, at }: Signing): string {
  const object = `{"id":"${issuerId}.${id}","classId":"${issuerId}.${templateId}"}`
  const claims = `{"iss":${JSON.stringify(email)},"aud":"google","typ":"savetowallet","iat":${at},"origins":[],"payload":{"${objectsOf(kind)}":[${object}]}}`
  return `${HEADER}.${encode(claims)}`
}

/** Returns the part of a link to store. It includes the signer, because later settings may have a different one. */
export function writeLink({ issuerId, email, at }: Signing, signature: Buffer): string {
  return `${issuerId} ${email} ${at} ${signature.toString('base64url')}`
}

/** Returns the complete link for a pass and the stored part. */
export function googleSaveUrl(pass: LinkedPass, link: string): string {
  const [issuerId = '', email = '', at, signature] = link.split(' ')
  return `https://pay.google.com/gp/v/save/${textToSign(pass, { issuerId, email, at: Number(at) })}.${signature}`
}
