/** Keys that numbers of cards are sealed under, and the sealing itself: AES-256-GCM, bound to environment, tenant and card. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { deriveSecret, seal, sealWith, unseal, unsealWith } from '../../platform/secrets.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { insertKey, readKeys, readNewestVersion } from './queries.ts'

/** What is printed on a card. */
export interface CardSecrets {
  readonly number: string
  readonly cvc: string
}

/** Sealed for one card, it opens for no other. */
export interface CardPlace {
  readonly environment: Environment
  readonly space: string
  readonly cardId: string
}

export interface SealedNumber {
  readonly key_version: number
  readonly sealed: Buffer
}

/** Seals under the key that is the newest. */
export interface Sealer {
  readonly version: number
  seal(secrets: CardSecrets, place: CardPlace): SealedNumber
}

export interface CardKeys {
  /** Asks the database when it has not for a minute: to be called before a transaction, and used soon. */
  sealer(): Promise<Sealer>
  /** Throws `UnsealError` where the number was sealed for another card, or changed. */
  open(number: SealedNumber, place: CardPlace): Promise<CardSecrets>
  /** The same for the same number, and of no use without the deployment's secret. */
  fingerprint(number: string): Buffer
}

/** For how long a process believes to know the newest key, in milliseconds. */
const MAX_AGE_MS = 60_000

/**
 * A superseded key is retired no sooner: by then every process knows the newer one, and what was sealed before is committed.
 * In seconds.
 */
export const RETIRED_AFTER_S = 3600

const KEY_BYTES = 32

const keyContext = (version: number) => `control.card_keys ${version}`

const numberContext = ({ environment, space, cardId }: CardPlace, version: number) =>
  `card_numbers.sealed ${environment} ${space} ${cardId} ${version}`

/** Makes the next key; undefined where another process did at the same moment. */
export async function addKey(control: Database, pepper: string): Promise<number | undefined> {
  const version = (await readNewestVersion(control)) + 1
  const sealed = seal(pepper, randomBytes(KEY_BYTES).toString('base64'), keyContext(version))
  return (await insertKey(control, { version, sealed })) ? version : undefined
}

/** The keys of the deployment, as one process knows them. The first is made when it is needed. */
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
      if (!key) throw new Error(`there is no card key ${key_version}`)
      return JSON.parse(unsealWith(key, sealed, numberContext(place, key_version))) as CardSecrets
    },
    fingerprint: (number) => createHmac('sha256', secret).update(number).digest(),
  }
}
