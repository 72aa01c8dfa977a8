/**
 * Passkeys (WebAuthn, Level 3): a key pair on the member's device. The device requires a fingerprint, a face, or a PIN before it
 * signs, so a passkey replaces both password and code.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Database } from '../../database/database.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import { change, type Operator } from '../../tenants/admin/change.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { randomBase62 } from '../../tenants/keys/keys.ts'
import type { Whose } from './own-credentials.ts'
import {
  answerChallenge,
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  type Passkey,
  usePasskey,
} from './passkey-queries.ts'

/** Maximum number of passkeys per member. */
export const MAX_PASSKEYS = 10

export const MAX_PASSKEY_NAME = 60

const CHALLENGE_MS = 5 * 60_000

/** The console as a WebAuthn relying party. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/** Returns undefined if browsers do not support passkeys at this URL: for an IP address, or without TLS. */
export function relyingPartyOf(consoleUrl: string): RelyingParty | undefined {
  const { origin, protocol, hostname } = new URL(consoleUrl)
  const isNamed = isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  const isSafe = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost')
  return isNamed && isSafe ? { id: hostname, origin } : undefined
}

/** Creates a signed challenge. @param about purpose of the challenge, which is not valid for another purpose. */
export function makeChallenge(pepper: string, about: string, now: number): string {
  const head = `${randomBase62(43)}.${now + CHALLENGE_MS}`
  return `${head}.${signChallenge(pepper, about, head)}`
}

const signChallenge = (pepper: string, about: string, head: string): string =>
  createHmac('sha256', deriveSecret(pepper, 'challenges of passkeys'))
    .update(`${about} ${head}`)
    .digest('base64url')

/** Returns the expiry of a challenge, or undefined if it has expired or its signature is invalid. */
function endOf(pepper: string, about: string, challenge: string, now: number): number | undefined {
  const [, head, end, mac] = /^(\w{43}\.(\d{1,15}))\.([\w-]{43})$/.exec(challenge) ?? []
  if (head === undefined) return undefined
  const wanted = Buffer.from(signChallenge(pepper, about, head))
  const isOurs = timingSafeEqual(Buffer.from(mac!), wanted)
  return isOurs && Number(end) > now ? Number(end) : undefined
}

/** Encodes bytes as base64url, as WebAuthn JSON requires. */
const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url')

/** Returns the options to create a passkey (`PublicKeyCredentialCreationOptionsJSON`). */
export function creationOptions(
  { id }: RelyingParty,
  { tenantId, memberId, email }: Whose & { readonly email: string },
  challenge: string,
  known: readonly Passkey[],
): object {
  return {
    challenge: encode(challenge),
    rp: { id, name: id },
    user: { id: encode(`${tenantId}.${memberId}`), name: email, displayName: email },
    // COSE identifiers of EdDSA, ES256, and RS256.
    pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    excludeCredentials: known.map(({ credential_id, transports }) => ({
      type: 'public-key',
      id: encode(credential_id),
      transports,
    })),
    attestation: 'none',
    timeout: CHALLENGE_MS,
  }
}

/** Returns the options to sign in with any passkey for this console (`PublicKeyCredentialRequestOptionsJSON`). */
export function requestOptions({ id }: RelyingParty, challenge: string): object {
  return { challenge: encode(challenge), rpId: id, userVerification: 'required', timeout: CHALLENGE_MS }
}

export interface PasskeyParts {
  readonly control: Database
  readonly clock: Clock
  readonly pepper: string
  /** Origin of the console. */
  readonly consoleUrl: string
}

/** The browser's response: the challenge and the credential as JSON. */
export interface PasskeyAnswer {
  readonly challenge: string
  readonly credential: string
}

/** The reason why a passkey was not added. */
export type NotAdded = 'not readable' | 'too many' | 'known'

/** Adds a passkey. @returns undefined on success. */
export async function addPasskey(
  { operator, consoleUrl }: { readonly operator: Operator } & Pick<PasskeyParts, 'consoleUrl'>,
  { tenantId, memberId }: Whose,
  about: string,
  given: PasskeyAnswer & { readonly name: string },
): Promise<NotAdded | undefined> {
  const now = operator.clock.machine()
  const made = await verifyCreation(operator.pepper, consoleUrl, about, given, now)
  if (!made) return 'not readable'
  if ((await listPasskeys(operator.control, tenantId, memberId)).length >= MAX_PASSKEYS) return 'too many'
  const isNew = await change(operator, async (tx, note) => {
    const passkey = { tenantId, memberId, name: given.name, now, ...made.credential }
    if (!(await answerChallenge(tx, tenantId, given.challenge, made.end))) return false
    if (!(await insertPasskey(tx, passkey))) return false
    note({ tenantId, action: 'member.passkey_added', targetId: memberId })
    return true
  })
  return isNew ? undefined : 'known'
}

async function verifyCreation(
  pepper: string,
  consoleUrl: string,
  about: string,
  { challenge, credential }: PasskeyAnswer,
  now: number,
) {
  const party = relyingPartyOf(consoleUrl)
  const end = endOf(pepper, about, challenge, now)
  if (!party || end === undefined) return undefined
  // Loaded on first use, to keep process start fast.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: JSON.parse(credential) as RegistrationResponseJSON,
      expectedChallenge: encode(challenge),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    })
    if (!verified) return undefined
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential
    return {
      end,
      credential: {
        credentialId: Buffer.from(id, 'base64url'),
        publicKey: Buffer.from(publicKey),
        counter,
        transports: transports.map(String),
      },
    }
  } catch {
    // The library throws for every invalid response. Its messages are meant for developers.
    return undefined
  }
}

/** Removes a passkey. @returns false if the member does not have it. */
export async function removePasskey(
  operator: Operator,
  { tenantId, memberId }: Whose,
  credentialId: Buffer,
): Promise<boolean> {
  return change(operator, async (tx, note) => {
    const isRemoved = await deletePasskey(tx, tenantId, memberId, credentialId)
    if (isRemoved) note({ tenantId, action: 'member.passkey_removed', targetId: memberId })
    return isRemoved
  })
}

/** The member whose passkey signed. If the response was replayed or the passkey may be cloned, `named` is that member. */
export type PasskeyRecognition =
  | { readonly right: true; readonly tenantId: string; readonly memberId: string }
  | {
      readonly right: false
      readonly named?: { readonly tenantId: string; readonly memberId: string }
    }

const USER = /^(ten_[0-9a-z]{26})\.(mem_[0-9a-z]{26})$/

/** Returns the member whose passkey signed the challenge. Each challenge is accepted once. */
export async function recognizePasskey(
  { control, clock, pepper, consoleUrl }: PasskeyParts,
  about: string,
  { challenge, credential }: PasskeyAnswer,
): Promise<PasskeyRecognition> {
  const party = relyingPartyOf(consoleUrl)
  const now = clock.machine()
  const end = endOf(pepper, about, challenge, now)
  const response = readResponse(credential)
  const [, tenantId, memberId] = USER.exec(userOf(response)) ?? []
  if (!party || end === undefined || !response || tenantId === undefined) return { right: false }
  const credentialId = Buffer.from(response.id, 'base64url')
  const known = await findPasskey(control, tenantId, credentialId)
  if (known?.member_id !== memberId) return { right: false }
  const counter = await verifySignature(party, challenge, response, known!.public_key)
  if (counter === undefined) return { right: false }
  const named = { tenantId, memberId: memberId! }
  const isFresh =
    (await answerChallenge(control, tenantId, challenge, end)) &&
    (await usePasskey(control, tenantId, credentialId, counter, now))
  return isFresh ? { right: true, ...named } : { right: false, named }
}

function readResponse(credential: string): AuthenticationResponseJSON | undefined {
  try {
    const read = JSON.parse(credential) as Partial<AuthenticationResponseJSON> | null
    return typeof read?.id === 'string' ? (read as AuthenticationResponseJSON) : undefined
  } catch {
    return undefined
  }
}

function userOf(response: AuthenticationResponseJSON | undefined): string {
  const handle: unknown = response?.response?.userHandle
  return typeof handle === 'string' ? Buffer.from(handle, 'base64url').toString() : ''
}

/** Returns the authenticator's counter, or undefined if the signature is invalid. */
async function verifySignature(
  party: RelyingParty,
  challenge: string,
  response: AuthenticationResponseJSON,
  publicKey: Buffer,
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: encode(challenge),
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      // The UPDATE statement compares the stored counter, so that two concurrent sign-ins cannot both pass.
      credential: { id: response.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: true,
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    return undefined
  }
}
