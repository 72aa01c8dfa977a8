/** Composes what a process needs for card numbers. */
import type { Logger } from 'pino'
import { type CardKeys, createCardKeys } from '../cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../cards/card-keys/directory.ts'
import { listingWorker } from '../cards/card-keys/listing.ts'
import { startResealJob } from '../cards/card-keys/rotation.ts'
import { type CardVault, createLocalVault } from '../cards/card-keys/vault.ts'
import type { CardDirectory } from '../cards/network/network.ts'
import { retirePepperRole } from '../database/migrate/card-role.ts'
import { ROOM_ROLES } from '../database/open/card-room.ts'
import type { OpenDatabase } from '../database/open/open-database.ts'
import type { Settings } from '../platform/settings.ts'
import type { Clock } from '../tenants/clock/clock.ts'

export interface RoomParts {
  readonly settings: Pick<Settings, 'roles'>
  readonly database: Pick<OpenDatabase, 'control' | 'cards'>
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
}

export interface OpenRoom {
  readonly vault: CardVault
  /** Present with the roles `network` and `reveal`. */
  readonly directory: CardDirectory | undefined
  readonly digest: CardKeys['digest']
  stop(): Promise<void>
}

/**
 * Opens the vault of a process, and starts its work on stored numbers. With the roles `network` and `reveal`, throws an
 * error that says what to do if the process cannot open the keys of card numbers.
 */
export async function openRoom(parts: RoomParts): Promise<OpenRoom> {
  const { database, clock, log } = parts
  const { control, cards: room } = database
  const { roles } = parts.settings
  if (!room) throw new Error('SVC_CARD_SECRET: is missing')
  const keys = createCardKeys(room, clock)
  const vault = createLocalVault(room, keys)
  const isRoom = ROOM_ROLES.some((role) => roles.has(role))
  if (isRoom) {
    await Promise.all([keys.sealer(), keys.digest('')])
    await retirePepperRole(control, room)
  }
  const options = { control, room, keys, clock, log }
  const works = roles.has('reveal') || roles.has('worker')
  const listing = works ? listingWorker(options) : undefined
  listing?.start()
  const resealing = works ? startResealJob(options) : undefined
  return {
    vault,
    directory: isRoom ? createCardDirectory(room.pool, keys) : undefined,
    digest: keys.digest,
    stop: async () => {
      await Promise.all([listing?.stop(), resealing?.stop()])
    },
  }
}
