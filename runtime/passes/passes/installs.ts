/** Records which wallets a pass is in, as reported by devices, by wallets and by the sandbox simulators. */

import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { collectEvents, type EventSink, emit } from '../../events/emit/emit.ts'
import type { Environment } from '../../platform/environment.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import { passMove } from './moves.ts'
import { lockPasses, type PassRow } from './queries.ts'
import { statusAt } from './status.ts'
import { type PassShowing, showPass } from './view.ts'

export type InstallPlatform = PassRow['platforms'][number]

export interface InstallScope extends PassShowing {
  /** Must be a transaction. */
  readonly db: Database
  readonly events: EventSink
}

/** The current pass, and whether the call changed it. */
export interface Marked {
  readonly pass: PassRow
  readonly changed: boolean
}

/**
 * Records that the pass is on a device of the platform. On the first device of the platform, an issued pass becomes
 * `installed` and `pass.installed` is emitted; final statuses do not change.
 *
 * @returns undefined if the pass does not exist.
 */
export function markInstalled(
  scope: InstallScope,
  passId: string,
  platform: InstallPlatform,
): Promise<Marked | undefined> {
  return mark(scope, passId, 'pass.installed', platform, (pass) =>
    pass.platforms.includes(platform)
      ? undefined
      : {
          ...pass,
          platforms: [...pass.platforms, platform].sort(),
          status: statusAt(pass, scope.now) === 'issued' ? 'installed' : pass.status,
          installed_at: pass.installed_at ?? scope.now,
          updated: scope.now,
        },
  )
}

/**
 * Records that the last device of the platform has removed the pass, and emits `pass.uninstalled`. The status does not
 * change.
 */
export function markUninstalled(
  scope: InstallScope,
  passId: string,
  platform: InstallPlatform,
): Promise<Marked | undefined> {
  return mark(scope, passId, 'pass.uninstalled', platform, (pass) =>
    pass.platforms.includes(platform)
      ? { ...pass, platforms: pass.platforms.filter((each) => each !== platform), updated: scope.now }
      : undefined,
  )
}

async function mark(
  scope: InstallScope,
  passId: string,
  type: 'pass.installed' | 'pass.uninstalled',
  platform: InstallPlatform,
  change: (pass: PassRow) => PassRow | undefined,
): Promise<Marked | undefined> {
  const { db, events, space } = scope
  const before = (await lockPasses(db, space, [passId])).get(passId)
  if (!before) return undefined
  const pass = change(before)
  if (!pass) return { pass: before, changed: false }
  pipelined(writePlatforms(db, space, pass))
  emit(events, {
    type,
    data: { pass: { ...showPass(pass, scope), platform } },
    passMove: passMove(before, pass),
  })
  return { pass, changed: true }
}

const WRITE_PLATFORMS: Statement = {
  name: 'passes_write_platforms',
  text: `UPDATE passes p SET platforms = $3, status = $4, installed_at = $5, updated = $6
          WHERE p.tenant_id = $1 AND p.id = $2`,
}

function writePlatforms(db: Database, tenantId: string, pass: PassRow): Promise<unknown> {
  const installedAt = pass.installed_at === null ? null : toTimestamp(pass.installed_at)
  return db.query(WRITE_PLATFORMS, [
    tenantId,
    pass.id,
    pass.platforms,
    pass.status,
    installedAt,
    toTimestamp(pass.updated),
  ])
}

/** The scope of a change outside an API request: the caller must write the events and the audit entry itself. */
export interface OutsideScope extends Omit<InstallScope, 'events'> {
  readonly environment: Environment
  /** The tenant's pinned version in the environment. */
  readonly pin: string | null
}

/**
 * Records an install or a removal that a device or a wallet reports. Call it last in the transaction: it locks the ends
 * of the tenant's event sequence and audit log.
 *
 * @returns also whether deliveries may be due after the commit; undefined if the pass does not exist.
 */
export async function markOutsideRequest(
  scope: OutsideScope,
  type: 'pass.installed' | 'pass.uninstalled',
  passId: string,
  platform: InstallPlatform,
): Promise<(Marked & { readonly due: boolean }) | undefined> {
  const { db, environment, pin, space, now } = scope
  const events = collectEvents({ tenantId: space, pin, now })
  const markAs = type === 'pass.installed' ? markInstalled : markUninstalled
  const marked = await markAs({ ...scope, events }, passId, platform)
  if (!marked?.changed) return marked && { ...marked, due: false }
  const due = events.write(db)
  pipelined(appendAudit(db, space, systemEntry(environment, type, passId, now)))
  return { ...marked, due: await due }
}
