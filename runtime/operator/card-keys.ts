import type { Logger } from 'pino'
import { addKey, createCardKeys } from '../cards/card-keys/card-keys.ts'
import { type Resealed, reseal } from '../cards/card-keys/rotation.ts'
import { ControlError, type Operator } from '../tenants/admin/change.ts'

export interface RotatedCardKey extends Resealed {
  /** Version of the new key. */
  readonly version: number
}

/**
 * Creates a new key for card numbers and reseals every number with it. If the command is killed, workers reseal the
 * rest. Throws `conflict` if another rotation started at the same time.
 *
 * @param log receives the numbers that cannot be unsealed.
 */
export async function rotateCardKey(
  { control, pepper, clock }: Operator,
  log: Logger,
): Promise<RotatedCardKey> {
  const version = await addKey(control, pepper)
  if (version === undefined)
    throw new ControlError(
      'conflict',
      'another rotation started at the same time: try again after it has ended',
    )
  return {
    version,
    ...(await reseal({ owner: control, keys: createCardKeys(control, pepper, clock), clock, log })),
  }
}
