import type { Settings } from '../../platform/settings.ts'
import type { RoomSecrets } from '../migrate/card-role.ts'
import type { MeasuredPool } from '../pool/pool.ts'

/** What a process needs to open card numbers. The secrets seal the keys: `ownSecret`, or the pepper without it. */
export interface CardRoom extends RoomSecrets {
  /** Connections with the role that alone may read sealed numbers and their keys. */
  readonly pool: MeasuredPool
}

/** Roles that open card numbers. */
export const ROOM_ROLES = ['network', 'reveal'] as const

/**
 * Whether the process opens card numbers. Without the roles it asks another process, if `REVEAL_URL` names one.
 * Otherwise it can open numbers only as long as the deployment has no secret of card numbers.
 */
export function opensCardNumbers({
  roles,
  revealUrl,
}: Partial<Pick<Settings, 'roles' | 'revealUrl'>>): boolean {
  return revealUrl === undefined || roles === undefined || ROOM_ROLES.some((role) => roles.has(role))
}
