import { addKey, createCardKeys } from '../platform/card-keys/card-keys.ts'
import { type Resealed, reseal } from '../platform/card-keys/rotation.ts'
import { ControlError, type Operator } from './change.ts'

export interface RotatedCardKey extends Resealed {
  /** Of the new key. */
  readonly version: number
}

/**
 * Makes a new key for the numbers of cards and seals every number under it. What a kill leaves, workers of the service go on
 * with. Throws `conflict` where another rotation began at the same moment.
 */
export async function rotateCardKey({ control, pepper, clock }: Operator): Promise<RotatedCardKey> {
  const version = await addKey(control, pepper)
  if (version === undefined) throw new ControlError('conflict', 'another rotation began at the same moment')
  return { version, ...(await reseal(control, createCardKeys(control, pepper, clock))) }
}
