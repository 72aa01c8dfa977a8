/**
 * Saves and deletions that Google tells of, verified as its page "Add and delete callbacks" says: protocol ECv2SigningOnly, a
 * root key signs an intermediate key, that one the message (Google Pay, "Payment data cryptography", steps 2 to 4).
 */

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'

export const PROTOCOL = 'ECv2SigningOnly'

/** The sender that Google's signatures name. */
export const SENDER = 'GooglePayPasses'

/** A root signing key as Google publishes it. */
export interface RootKey {
  /** SPKI, DER, base64. */
  readonly keyValue: string
  readonly protocolVersion: string
  /** Milliseconds since the epoch, in digits. */
  readonly keyExpiration: string
}

/** What was saved or deleted by a holder. */
export interface GoogleCallback {
  readonly classId: string
  readonly objectId: string
  readonly eventType: 'save' | 'del'
  /** Of this message alone, however often it is sent. */
  readonly nonce: string
  /** Milliseconds since the epoch; later the message is worth nothing. */
  readonly expiresAt: number
}

/** The message, or why it is none, in words for the log. */
export type CallbackVerdict = { readonly callback: GoogleCallback } | { readonly fault: string }

export interface Verification {
  /** Roots as Google publishes them. */
  readonly keys: readonly RootKey[]
  /** The issuer's number. */
  readonly recipientId: string
  /** Machine time, milliseconds since the epoch. */
  readonly now: number
}

/** Google signs with one key, and with two while it changes its keys. */
const MAX_SIGNATURES = 8

/** What a signature is over: each part behind its length in bytes, four of them, the lowest first. */
export function signedBytes(...parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** Verifies what was posted. Pure: whether the nonce was seen before is for whoever stores nonces. */
export function verifyCallback(posted: unknown, { keys, recipientId, now }: Verification): CallbackVerdict {
  const envelope = readEnvelope(posted)
  if (!envelope) return { fault: 'it is no signed message' }
  if (envelope.protocolVersion !== PROTOCOL) return { fault: 'the protocol is another' }
  const roots = keys.filter(
    ({ protocolVersion, keyExpiration }) => protocolVersion === PROTOCOL && Number(keyExpiration) > now,
  )
  const { signedKey, signatures } = envelope
  const overKey = signedBytes(SENDER, PROTOCOL, signedKey)
  const known = roots.some((root) => signatures.some((each) => isSigned(overKey, root.keyValue, each)))
  if (!known) return { fault: 'no root key signed the intermediate key' }
  const intermediate = readMembers(signedKey)
  if (!(Number(intermediate?.keyExpiration) > now)) return { fault: 'the intermediate key has expired' }
  const overMessage = signedBytes(SENDER, recipientId, PROTOCOL, envelope.signedMessage)
  if (!isSigned(overMessage, String(intermediate?.keyValue), envelope.signature)) {
    return { fault: 'the message is not signed for this issuer, or was changed' }
  }
  return readMessage(envelope.signedMessage, now)
}

interface Envelope {
  readonly protocolVersion: string
  readonly signedMessage: string
  readonly signature: string
  readonly signedKey: string
  readonly signatures: readonly string[]
}

function readEnvelope(posted: unknown): Envelope | undefined {
  const { protocolVersion, signedMessage, signature, intermediateSigningKey } = membersOf(posted)
  const { signedKey, signatures } = membersOf(intermediateSigningKey)
  if (![protocolVersion, signedMessage, signature, signedKey].every(isText)) return undefined
  if (!Array.isArray(signatures) || signatures.length > MAX_SIGNATURES || !signatures.every(isText))
    return undefined
  return { protocolVersion, signedMessage, signature, signedKey, signatures } as Envelope
}

function readMessage(text: string, now: number): CallbackVerdict {
  const { classId, objectId, eventType, nonce, expTimeMillis } = readMembers(text) ?? {}
  if (!isText(classId) || !isText(objectId) || !isText(nonce) || nonce === '' || nonce.length > 256) {
    return { fault: 'the message lacks something' }
  }
  if (eventType !== 'save' && eventType !== 'del') return { fault: 'the message is of another type' }
  const expiresAt = Number(expTimeMillis)
  if (!(expiresAt > now)) return { fault: 'the message has expired' }
  return { callback: { classId, objectId, eventType, nonce, expiresAt } }
}

/** @param key SPKI in base64, of P-256; anything else has signed nothing. */
function isSigned(data: Buffer, key: string, signature: string): boolean {
  const publicKey = readKey(key)
  if (!publicKey) return false
  return verify('sha256', data, publicKey, Buffer.from(signature, 'base64'))
}

function readKey(key: string): KeyObject | undefined {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'spki' })
    return publicKey.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? publicKey : undefined
  } catch {
    return undefined // no key at all
  }
}

function readMembers(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return membersOf(parsePeerJson(text))
  } catch {
    return undefined // signed, but no JSON
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
