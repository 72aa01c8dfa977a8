/** Card keys: encrypt card numbers with AES-256-GCM, bound to the environment, the tenant and the card. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { RoomSecrets } from '../../database/migrate/card-role.ts'
import type { CardRoom } from '../../database/open/card-room.ts'
import { lastingSpaceOf } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { seal, sealWith, unseal, unsealWith } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import {
  insertKey,
  readDigestKey,
  readKeys,
  readNewestVersion,
  type SealedKey,
  writeDigestKey,
} from './queries.ts'

/** The card number and security code. */
export interface CardSecrets {
  readonly number: string
  readonly cvc: string
}

/** The card that a number is sealed for. A sealed number cannot be opened for any other card. */
export interface CardPlace {
  readonly environment: Environment
  readonly space: string
  readonly cardId: string
}

export interface SealedNumber {
  readonly key_version: number
  readonly sealed: Buffer
}

/** Seals card numbers under the newest key. */
export interface Sealer {
  readonly version: number
  seal(secrets: CardSecrets, place: CardPlace): SealedNumber
}

export interface CardKeys {
  /**
   * Returns a sealer for the newest key. Reads the keys again if they are older than a minute, so call it before the
   * transaction begins and use the sealer soon.
   */
  sealer(): Promise<Sealer>
  /** Throws `UnsealError` if the number was sealed for a different card or was modified. */
  open(number: SealedNumber, place: CardPlace): Promise<CardSecrets>
  /**
   * Returns HMAC-SHA256 of the number, 32 bytes, by which the directory finds its card. Without the key, numbers cannot be
   * tried until one fits.
   */
  digest(number: string): Promise<Buffer>
}

/** How long a process relies on its cached keys, in milliseconds. */
const MAX_AGE_MS = 60_000

/**
 * How long after a newer key is created a superseded key can be retired, in seconds. By then every process uses the newer
 * key, and every transaction that sealed under the old key has ended.
 */
export const RETIRED_AFTER_S = 3600

const KEY_BYTES = 32

const keyContext = (version: number) => `control.card_keys ${version}`

const DIGEST_KEY_CONTEXT = 'control.card_room.digest_key'

const numberContext = ({ environment, space, cardId }: CardPlace, version: number) =>
  `card_numbers.sealed ${environment} ${lastingSpaceOf(space)} ${cardId} ${version}`

/** Seals a key with the secret of card numbers, or with the pepper if the deployment has no such secret. */
function sealKey({ pepper, ownSecret }: RoomSecrets, key: Buffer, context: string): SealedKey {
  const sealed = seal(ownSecret ?? pepper, key.toString('base64'), context)
  return { sealed, has_own_secret: ownSecret !== undefined }
}

function unsealKey(secrets: RoomSecrets, key: SealedKey, context: string): Buffer {
  const { pepper, ownSecret, previousSecret } = secrets
  if (key.has_own_secret && ownSecret === undefined) {
    throw new Error(
      'The keys of card numbers are sealed with SVC_CARD_SECRET, which this process does not have: set it for the roles network and reveal, or set REVEAL_URL so that this process asks one with the role reveal.',
    )
  }
  try {
    return Buffer.from(unseal(key.has_own_secret ? ownSecret! : pepper, key.sealed, context), 'base64')
  } catch (error) {
    if (!key.has_own_secret || previousSecret === undefined) throw error
    return Buffer.from(unseal(previousSecret, key.sealed, context), 'base64')
  }
}

/**
 * Creates the next key and returns its version. Returns undefined if another process created that version at the same time.
 */
export async function addKey(room: CardRoom): Promise<number | undefined> {
  const version = (await readNewestVersion(room.pool)) + 1
  const key = sealKey(room, randomBytes(KEY_BYTES), keyContext(version))
  return (await insertKey(room.pool, { version, ...key })) ? version : undefined
}

/** Returns the key of the digests. The first process to need it creates it. */
async function openDigestKey(room: CardRoom): Promise<KeyObject> {
  const stored = await readDigestKey(room.pool)
  if (stored) return createSecretKey(unsealKey(room, stored, DIGEST_KEY_CONTEXT))
  await writeDigestKey(room.pool, sealKey(room, randomBytes(KEY_BYTES), DIGEST_KEY_CONTEXT), null)
  return openDigestKey(room)
}

/** Seals the key of the digests anew, with the secret that the deployment has now. */
export async function resealDigestKey(room: CardRoom): Promise<void> {
  const stored = await readDigestKey(room.pool)
  if (!stored) return
  const key = unsealKey(room, stored, DIGEST_KEY_CONTEXT)
  await writeDigestKey(room.pool, sealKey(room, key, DIGEST_KEY_CONTEXT), stored.sealed)
}

/** Returns the deployment's card keys, cached per process. The first key is created on first use. */
export function createCardKeys(room: CardRoom, clock: Pick<Clock, 'machine'>): CardKeys {
  let keys: ReadonlyMap<number, KeyObject> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  let digestKey: Promise<KeyObject> | undefined
  const read = async () => {
    const at = clock.machine()
    let stored = await readKeys(room.pool)
    if (stored.length === 0) {
      await addKey(room)
      stored = await readKeys(room.pool)
    }
    keys = new Map(
      stored.map(({ version, ...key }) => [
        version,
        createSecretKey(unsealKey(room, key, keyContext(version))),
      ]),
    )
    readAt = at
  }
  return {
    async sealer() {
      const age = clock.machine() - readAt
      if (age < 0 || age >= MAX_AGE_MS) await read()
      const version = Math.max(...keys.keys())
      const key = keys.get(version)!
      return {
        version,
        seal: (secrets, place) => ({
          key_version: version,
          sealed: sealWith(key, JSON.stringify(secrets), numberContext(place, version)),
        }),
      }
    },
    async open({ key_version, sealed }, place) {
      if (!keys.has(key_version)) await read()
      const key = keys.get(key_version)
      if (!key)
        throw new Error(
          `Card key ${key_version} does not exist or is retired. Restore it from a backup of control.card_keys.`,
        )
      return JSON.parse(unsealWith(key, sealed, numberContext(place, key_version))) as CardSecrets
    },
    async digest(number) {
      digestKey ??= openDigestKey(room).catch((error: unknown) => {
        digestKey = undefined
        throw error
      })
      return createHmac('sha256', await digestKey)
        .update(number)
        .digest()
    },
  }
}
