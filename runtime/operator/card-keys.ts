import type { Logger } from 'pino'
import { addKey, createCardKeys, resealDigestKey } from '../cards/card-keys/card-keys.ts'
import { type Resealed, reseal } from '../cards/card-keys/rotation.ts'
import { closeCardRoom, retireOtherRoles } from '../database/migrate/card-role.ts'
import type { CardRoom } from '../database/open/card-room.ts'
import { ControlError, type Operator } from '../tenants/admin/change.ts'

export interface RotatedCardKey extends Resealed {
  /** Version of the new key. */
  readonly version: number
}

/**
 * Creates a new key for card numbers and reseals every number with it. If the command is killed, workers reseal the
 * rest. Throws `conflict` if another rotation started at the same time.
 *
 * From the first rotation on, the roles of the environments cannot read sealed numbers, and the keys are sealed with
 * `SVC_CARD_SECRET` if it is set. Nodes of a version that has no such secret can then no longer open numbers.
 *
 * @param room absent if the process may not open card numbers. Throws `refused`.
 * @param log receives the numbers that cannot be unsealed.
 */
export async function rotateCardKey(
  { control, clock }: Operator,
  room: CardRoom | undefined,
  log: Logger,
): Promise<RotatedCardKey> {
  if (!room) throw new ControlError('refused', 'this command opens card numbers: run it with SVC_CARD_SECRET')
  const version = await addKey(room)
  if (version === undefined)
    throw new ControlError(
      'conflict',
      'another rotation started at the same time: try again after it has ended',
    )
  await resealDigestKey(room)
  await closeCardRoom(control)
  await retireOtherRoles(control, room, 'all')
  return { version, ...(await reseal({ control, room, keys: createCardKeys(room, clock), clock, log })) }
}
