/**
 * Texts that stand for one thing of one tenant where nobody has a key: they say themselves where it is, so that none is kept and
 * none needs to be looked up, and nobody without the key can make one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readSpace, spaceOf } from '../../database/space.ts'
import { bytesOf, type IdPrefix, idOf } from '../../platform/ids.ts'

export interface TokenPlace {
  /** A byte that tells tokens under one key apart. */
  readonly kind: number
  readonly space: string
  readonly id: string
}

const ID_BYTES = 16
const PLACE_BYTES = 1 + 2 * ID_BYTES
const MAC_BYTES = 12

/** 60 characters, base64url; up to 66 where the sandbox has been wiped. The same for the same place, always. */
export function writePlaceToken(key: string, { kind, space, id }: TokenPlace): string {
  const { tenantId, wipes } = readSpace(space)
  const rest = Buffer.alloc(wipes === 0 ? 0 : 4)
  if (wipes !== 0) rest.writeUInt32BE(wipes)
  const place = Buffer.concat([Buffer.of(kind), bytesOf(tenantId), bytesOf(id), rest])
  return Buffer.concat([place, macOf(key, place)]).toString('base64url')
}

/** Undefined for what was not written with the key. */
export function readPlaceToken(key: string, prefix: IdPrefix, token: string): TokenPlace | undefined {
  const bytes = Buffer.from(token, 'base64url')
  // One spelling each: other texts may decode to the same bytes.
  if (bytes.length < PLACE_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
  const place = bytes.subarray(0, -MAC_BYTES)
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(key, place))) return undefined
  const wipes = place.length > PLACE_BYTES ? place.readUInt32BE(PLACE_BYTES) : 0
  return {
    kind: place[0]!,
    space: spaceOf(idOf('ten', place.subarray(1, 1 + ID_BYTES)), wipes),
    id: idOf(prefix, place.subarray(1 + ID_BYTES, PLACE_BYTES)),
  }
}

function macOf(key: string, place: Buffer): Buffer {
  return createHmac('sha256', key).update(place).digest().subarray(0, MAC_BYTES)
}
