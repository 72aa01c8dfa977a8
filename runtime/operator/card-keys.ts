import type { Logger } from 'pino'
import { addKey, createCardKeys } from '../cards/card-keys/card-keys.ts'
import { type Resealed, reseal } from '../cards/card-keys/rotation.ts'
import { ControlError, type Operator } from '../tenants/admin/change.ts'

export interface RotatedCardKey extends Resealed {
  /** Of the new key. */
  readonly version: number
}

/**
 * Makes a new key for card numbers and seals every number under it. If this is killed, the service's workers seal the rest.
 * Throws `conflict` if another rotation began at the same moment.
 *
 * @param log is given the numbers that do not open.
 */
export async function rotateCardKey(
  { control, pepper, clock }: Operator,
  log: Logger,
): Promise<RotatedCardKey> {
  const version = await addKey(control, pepper)
  if (version === undefined) throw new ControlError('conflict', 'another rotation began at the same moment')
  return {
    version,
    ...(await reseal({ owner: control, keys: createCardKeys(control, pepper, clock), clock, log })),
  }
}
