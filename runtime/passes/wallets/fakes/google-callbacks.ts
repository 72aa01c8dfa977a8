/** Signs callbacks like Google does: the fake's root key signs an intermediate key, which signs the message. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { PROTOCOL, type RootKey, SENDER, signedBytes } from '../render/google/callback.ts'

const HOUR_MS = 3_600_000

/** The content of a callback. Tests can override the optional members to make a callback invalid. */
export interface CallbackOrder {
  readonly classId: string
  readonly objectId: string
  readonly eventType: string
  readonly nonce: string
  readonly recipientId: string
  readonly sender?: string
  readonly protocol?: string
  /** Milliseconds since the epoch. */
  readonly messageExpires?: number
  readonly intermediateExpires?: number
}

export interface CallbackSigner {
  /** The response of the root keys URL. */
  readonly published: { readonly keys: readonly RootKey[] }
  /** Returns the signed body of a callback. */
  write(order: CallbackOrder): Readonly<Record<string, unknown>>
}

function makeKey(): { readonly privateKey: KeyObject; readonly spki: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, spki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') }
}

/** Creates a signer. @param rootExpires expiry of the root key, in milliseconds since the epoch. */
export function createCallbackSigner(rootExpires = Date.now() + 24 * HOUR_MS): CallbackSigner {
  const root = makeKey()
  const intermediate = makeKey()
  const rootKey = { keyValue: root.spki, protocolVersion: PROTOCOL, keyExpiration: String(rootExpires) }
  const signWith = (key: KeyObject, ...parts: readonly string[]) =>
    sign('sha256', signedBytes(...parts), key).toString('base64')
  return {
    published: { keys: [rootKey] },
    write(order) {
      const { sender = SENDER, protocol = PROTOCOL, recipientId } = order
      const { classId, objectId, eventType, nonce } = order
      const later = Date.now() + HOUR_MS
      const signedKey = JSON.stringify({
        keyValue: intermediate.spki,
        keyExpiration: String(order.intermediateExpires ?? later),
      })
      const expTimeMillis = order.messageExpires ?? later
      const signedMessage = JSON.stringify({ classId, objectId, eventType, nonce, expTimeMillis, count: 1 })
      return {
        protocolVersion: protocol,
        signature: signWith(intermediate.privateKey, sender, recipientId, protocol, signedMessage),
        intermediateSigningKey: {
          signedKey,
          signatures: [signWith(root.privateKey, sender, protocol, signedKey)],
        },
        signedMessage,
      }
    },
  }
}
