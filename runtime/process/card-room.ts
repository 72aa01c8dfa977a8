/** Composes what a process needs for card numbers. */
import type { RequestListener } from 'node:http'
import type { Logger } from 'pino'
import { unavailable } from '../api/errors/errors.ts'
import { type CardKeys, createCardKeys } from '../cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../cards/card-keys/directory.ts'
import { listingWorker } from '../cards/card-keys/listing.ts'
import { createRemoteVault } from '../cards/card-keys/remote-vault.ts'
import { createRevealListener } from '../cards/card-keys/reveal-listener.ts'
import { startResealJob } from '../cards/card-keys/rotation.ts'
import { type CardVault, createLocalVault } from '../cards/card-keys/vault.ts'
import type { CardDirectory } from '../cards/network/network.ts'
import { retireOtherRoles } from '../database/migrate/card-role.ts'
import { ROOM_ROLES } from '../database/open/card-room.ts'
import type { OpenDatabase } from '../database/open/open-database.ts'
import { databasesAnswer } from '../operator/metrics/readiness.ts'
import type { Settings } from '../platform/settings.ts'
import type { Clock } from '../tenants/clock/clock.ts'

export interface RoomParts {
  readonly settings: Pick<Settings, 'roles' | 'revealUrl' | 'revealPort'>
  readonly database: Pick<OpenDatabase, 'control' | 'cards' | 'pepper'>
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
}

export interface OpenRoom {
  readonly vault: CardVault
  /** Finds cards by number and digests numbers. Present with the roles `network` and `reveal`. */
  readonly room?: { readonly directory: CardDirectory; readonly digest: CardKeys['digest'] }
  /** Answers other processes, with the role `reveal`. */
  readonly listener?: RequestListener
  stop(): Promise<void>
}

/**
 * Opens the vault of a process, and starts its work on stored numbers. With the roles `network` and `reveal`, throws an
 * error that says what to do if the process cannot open the keys of card numbers.
 */
export async function openRoom({ settings, database, clock, log }: RoomParts): Promise<OpenRoom> {
  const { roles, revealUrl } = settings
  const { control, cards: room, pepper } = database
  const isRoom = ROOM_ROLES.some((role) => roles.has(role))
  if (!room) {
    if (isRoom) throw new Error(`SVC_CARD_SECRET: ${NO_SECRET}`)
    const vault = revealUrl
      ? createRemoteVault({ url: revealUrl, pepper, clock, log, unavailable })
      : createClosedVault()
    return { vault, stop: async () => {} }
  }
  const keys = createCardKeys(room, clock)
  const vault = createLocalVault(room, keys)
  const options = { control, room, keys, clock, log }
  const works = roles.has('reveal') || roles.has('worker')
  if (isRoom) {
    await Promise.all([keys.sealer(), keys.digest('')])
    await retireOtherRoles(control, room, 'pepper')
  }
  const listing = works ? listingWorker(options) : undefined
  listing?.start()
  const resealing = works ? startResealJob(options) : undefined
  return {
    vault,
    ...(isRoom && { room: { directory: createCardDirectory(room.pool, keys), digest: keys.digest } }),
    ...(roles.has('reveal') && {
      listener: createRevealListener({
        vault,
        pepper,
        clock,
        log,
        isReady: () => databasesAnswer([room.pool]),
      }),
    }),
    stop: async () => {
      await Promise.all([listing?.stop(), resealing?.stop()])
    },
  }
}

const NO_SECRET =
  'card numbers are sealed with a secret that this process does not have. Set it for the roles network and reveal, and set REVEAL_URL for the other processes'

/** The vault of a process that has neither the secret nor the address of a process that has it. */
function createClosedVault(): CardVault {
  const refuse = () => Promise.reject(new Error(`REVEAL_URL: ${NO_SECRET}`))
  return { propose: refuse, reveal: refuse }
}
