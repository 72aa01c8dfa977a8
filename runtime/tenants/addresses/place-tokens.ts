/**
 * Tokens for URLs that work without an API key. A token encodes tenant, space and object, with a MAC. So the service
 * stores no tokens and looks none up, and no token can be forged without the secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readSpace, spaceOf } from '../../database/space.ts'
import { bytesOf, type IdPrefix, idOf } from '../../platform/ids.ts'

export interface TokenPlace {
  /** A byte that distinguishes kinds of tokens with the same secret. */
  readonly kind: number
  readonly space: string
  readonly id: string
}

const ID_BYTES = 16
const PLACE_BYTES = 1 + 2 * ID_BYTES
const MAC_BYTES = 12

/**
 * Writes a token of 60 base64url characters, up to 66 if the sandbox was wiped, or up to 76 in a named sandbox. The
 * same place always produces the same token.
 */
export function writePlaceToken(key: string, { kind, space, id }: TokenPlace): string {
  const { tenantId, wipes, sandbox, bound } = readSpace(space)
  const named = [wipes, ...(sandbox === undefined ? [] : [sandbox]), ...(bound === undefined ? [] : [bound])]
  const numbers = sandbox === undefined && wipes === 0 ? [] : named
  const rest = Buffer.alloc(4 * numbers.length)
  for (const [index, number] of numbers.entries()) rest.writeUInt32BE(number, 4 * index)
  const place = Buffer.concat([Buffer.of(kind), bytesOf(tenantId), bytesOf(id), rest])
  return Buffer.concat([place, macOf(key, place)]).toString('base64url')
}

/** Reads a token. Returns undefined unless it was written with the same secret. */
export function readPlaceToken(key: string, prefix: IdPrefix, token: string): TokenPlace | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // Different texts can decode to the same bytes, so accept only the canonical one.
  if (bytes.length < PLACE_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
  const place = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(key, place))) return undefined
  const numberAt = (offset: number) => (place.length > offset ? place.readUInt32BE(offset) : undefined)
  const [wipes = 0, sandbox, bound] = [0, 4, 8].map((offset) => numberAt(PLACE_BYTES + offset))
  return {
    kind: place[0]!,
    space: spaceOf(idOf('ten', place.subarray(1, 1 + ID_BYTES)), wipes, sandbox, bound),
    id: idOf(prefix, place.subarray(1 + ID_BYTES, PLACE_BYTES)),
  }
}

function macOf(key: string, place: Buffer): Buffer {
  return createHmac('sha256', key).update(place).digest().subarray(0, MAC_BYTES)
}
