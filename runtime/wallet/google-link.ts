/** The link that saves a pass to Google Wallet (Google Wallet, "JWT"), and the part of it that is kept. */

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

/** Names in the JWT of the objects that a template's kind stands for (Google Wallet, "JWT", payload). */
const OBJECTS: Readonly<Record<string, string>> = {
  loyalty: 'loyaltyObjects',
  gift_card: 'giftCardObjects',
  coupon: 'offerObjects',
  event_ticket: 'eventTicketObjects',
  boarding_pass: 'transitObjects',
  generic: 'genericObjects',
}

function encode(json: string): string {
  return Buffer.from(json).toString('base64url')
}

/**
 * The text that is signed. Links that stand are made of it again whenever they are shown: it must never come out otherwise.
 * Written by hand, because a list shows a hundred of them; identifiers hold nothing that JSON would escape.
 */
export function textToSign({ id, templateId, kind }: LinkedPass, { issuerId, email, at }: Signing): string {
  const objects = OBJECTS[kind] ?? OBJECTS.generic!
  const object = `{"id":"${issuerId}.${id}","classId":"${issuerId}.${templateId}"}`
  const claims = `{"iss":${JSON.stringify(email)},"aud":"google","typ":"savetowallet","iat":${at},"origins":[],"payload":{"${objects}":[${object}]}}`
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
