/**
 * Verifies Google's callbacks for saves and deletions (Google Wallet, "Add and delete callbacks"). The protocol is
 * ECv2SigningOnly: a root key signs an intermediate key, which signs the message (Google Pay, "Payment data
 * cryptography", steps 2 to 4).
 */

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'

export const PROTOCOL = 'ECv2SigningOnly'

/** Sender name in Google's signatures. */
export const SENDER = 'GooglePayPasses'

/** A root signing key in the form that Google publishes. */
export interface RootKey {
  /** SPKI in DER, base64-encoded. */
  readonly keyValue: string
  readonly protocolVersion: string
  /** Milliseconds since the epoch, as a decimal string. */
  readonly keyExpiration: string
}

/** A verified callback: the holder saved or deleted an object. */
export interface GoogleCallback {
  readonly classId: string
  readonly objectId: string
  readonly eventType: 'save' | 'del'
  /** Unique to the message; the same if Google sends it again. */
  readonly nonce: string
  /** Milliseconds since the epoch; the message is invalid after this time. */
  readonly expiresAt: number
}

/** The callback, or the reason for its rejection, as text for the log. */
export type CallbackVerdict = { readonly callback: GoogleCallback } | { readonly fault: string }

export interface Verification {
  readonly keys: readonly RootKey[]
  /** Google Wallet issuer ID. */
  readonly recipientId: string
  /** Machine time, milliseconds since the epoch. */
  readonly now: number
}

/** Maximum number of signatures. Google sends one, or two while it rotates its keys. */
const MAX_SIGNATURES = 8

/** Returns the bytes that a signature covers: each part after its length in bytes, as 32-bit little-endian. */
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

/** Verifies a posted callback. Pure: the caller must reject nonces that were seen before. */
export function verifyCallback(posted: unknown, { keys, recipientId, now }: Verification): CallbackVerdict {
  const envelope = readEnvelope(posted)
  if (!envelope) return { fault: 'the body is not a signed message' }
  if (envelope.protocolVersion !== PROTOCOL) return { fault: 'the protocol is not ECv2SigningOnly' }
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
    return { fault: 'the signature does not match the message and this issuer' }
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
    return { fault: 'classId, objectId or nonce is missing or invalid' }
  }
  if (eventType !== 'save' && eventType !== 'del') return { fault: 'eventType is neither save nor del' }
  const expiresAt = Number(expTimeMillis)
  if (!(expiresAt > now)) return { fault: 'the message has expired' }
  return { callback: { classId, objectId, eventType, nonce, expiresAt } }
}

/**
 * Returns whether the key has signed the data. @param key base64-encoded SPKI of a P-256 key; the result is false for
 * other keys.
 */
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
    return undefined // not a key
  }
}

function readMembers(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return membersOf(parsePeerJson(text))
  } catch {
    return undefined // signed, but not valid JSON
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
