/** Card keys: encrypt card numbers with AES-256-GCM, bound to the environment, the tenant and the card. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { deriveSecret, seal, sealWith, unseal, unsealWith } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { insertKey, readKeys, readNewestVersion } from './queries.ts'

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
   * Returns a keyed hash of the number. Equal numbers have equal fingerprints; without the deployment's secret, a
   * fingerprint reveals nothing.
   */
  fingerprint(number: string): Buffer
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

const numberContext = ({ environment, space, cardId }: CardPlace, version: number) =>
  `card_numbers.sealed ${environment} ${space} ${cardId} ${version}`

/**
 * Creates the next key and returns its version. Returns undefined if another process created that version at the same time.
 */
export async function addKey(control: Database, pepper: string): Promise<number | undefined> {
  const version = (await readNewestVersion(control)) + 1
  const sealed = seal(pepper, randomBytes(KEY_BYTES).toString('base64'), keyContext(version))
  return (await insertKey(control, { version, sealed })) ? version : undefined
}

/** Returns the deployment's card keys, cached per process. The first key is created on first use. */
export function createCardKeys(control: Database, pepper: string, clock: Pick<Clock, 'machine'>): CardKeys {
  const secret = deriveSecret(pepper, 'fingerprints of card numbers')
  let keys: ReadonlyMap<number, KeyObject> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  const read = async () => {
    const at = clock.machine()
    let stored = await readKeys(control)
    if (stored.length === 0) {
      await addKey(control, pepper)
      stored = await readKeys(control)
    }
    keys = new Map(
      stored.map(({ version, sealed }) => {
        const key = Buffer.from(unseal(pepper, sealed, keyContext(version)), 'base64')
        return [version, createSecretKey(key)]
      }),
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
    fingerprint: (number) => createHmac('sha256', secret).update(number).digest(),
  }
}
