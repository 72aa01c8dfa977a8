/** Sends pushes to devices whose passes have changed. */
import type { Logger } from 'pino'
import type { Database, Statement } from '../../../../database/database.ts'
import type { Devices } from '../../../passes/registrations.ts'
import type { Apns, Pushed } from './apns.ts'
import type { UpdateOutcome, UpdateSender } from './worker.ts'

export interface AppleSenderParts {
  readonly db: Database
  readonly apns: Apns
  readonly devices: Pick<Devices, 'drop'>
  /** Machine time, milliseconds since the epoch. */
  readonly now: () => number
  readonly log: Logger
}

/**
 * Maximum number of push tokens for a device. A device has one, and a second one while its wallet registers passes
 * again.
 */
const MAX_TOKENS = 4

const TOKENS: Statement = {
  name: 'apple_registrations_tokens',
  text: `SELECT n.id AS device_id, r.push_token
           FROM json_array_elements_text($2) AS n (id)
          CROSS JOIN LATERAL (
            SELECT DISTINCT r.push_token FROM apple_registrations r
             WHERE r.tenant_id = $1 AND r.device_id = n.id AND r.changed > 0 LIMIT $3) AS r`,
}

export function createAppleSender({ db, apns, devices, now, log }: AppleSenderParts): UpdateSender {
  const push = async (space: string, deviceId: string, pushToken: string): Promise<Pushed['kind']> => {
    const at = now()
    const pushed = await apns.push(pushToken)
    if (pushed.kind === 'gone') await devices.drop(space, deviceId, pushToken, pushed.since ?? at)
    else if (pushed.kind !== 'sent') {
      log.warn({ tenant_id: space, reason: pushed.reason, kind: pushed.kind }, 'APNs did not accept a push')
    }
    return pushed.kind
  }
  return {
    async prepare(space, updates) {
      const values = [space, JSON.stringify(updates.map(({ target }) => target)), MAX_TOKENS]
      const { rows } = await db.query<{ device_id: string; push_token: string }>(TOKENS, values)
      const tokens = Map.groupBy(rows, ({ device_id }) => device_id)
      return async ({ target }) => {
        const each = tokens.get(target) ?? []
        return worst(await Promise.all(each.map(({ push_token }) => push(space, target, push_token))))
      }
    },
  }
}

/** Combines the results of a device's tokens. The device is done only if no token needs another attempt. */
function worst(kinds: readonly Pushed['kind'][]): UpdateOutcome {
  if (kinds.includes('stopped')) return 'stopped'
  return kinds.includes('failed') ? 'failed' : 'done'
}
