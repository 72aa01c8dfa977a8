/** The link that saves a pass to Google Wallet (Google Wallet, "JWT"), and the part of it that is kept. */
import type { PassKind } from '../pass-state.ts'
import { GOOGLE_KINDS } from './kinds.ts'

/** What the link names. */
export interface LinkedPass {
  readonly id: string
  readonly templateId: string
  readonly kind: string
}

/** Who signs, and when: seconds since the epoch. */
export interface Signing {
  /** Digits. */
  readonly issuerId: string
  /** The service account's address, without spaces. */
  readonly email: string
  readonly at: number
}

const HEADER = encode('{"alg":"RS256","typ":"JWT"}')

/** Name in the JWT of the objects that a template's kind stands for (Google Wallet, "JWT", payload). */
function objectsOf(kind: string): string {
  const { objects } = GOOGLE_KINDS[kind as PassKind] ?? GOOGLE_KINDS.generic
  return `${objects}s`
}

function encode(json: string): string {
  return Buffer.from(json).toString('base64url')
}

/**
 * The text that is signed. Links that stand are made of it again whenever they are shown: it must never come out otherwise.
 * Written by hand, because a list shows a hundred of them; identifiers hold nothing that JSON would escape.
 */
export function textToSign({ id, templateId, kind }: LinkedPass, { issuerId, email, at }: Signing): string {
  const object = `{"id":"${issuerId}.${id}","classId":"${issuerId}.${templateId}"}`
  const claims = `{"iss":${JSON.stringify(email)},"aud":"google","typ":"savetowallet","iat":${at},"origins":[],"payload":{"${objectsOf(kind)}":[${object}]}}`
  return `${HEADER}.${encode(claims)}`
}

/** What is kept of a link. With the signer in it: the settings of a later day may name another. */
export function writeLink({ issuerId, email, at }: Signing, signature: Buffer): string {
  return `${issuerId} ${email} ${at} ${signature.toString('base64url')}`
}

/** The whole link, from what was kept of it. */
export function googleSaveUrl(pass: LinkedPass, link: string): string {
  const [issuerId = '', email = '', at, signature] = link.split(' ')
  return `https://pay.google.com/gp/v/save/${textToSign(pass, { issuerId, email, at: Number(at) })}.${signature}`
}
