/** Finds who still uses a version, so that an operator knows what blocks its sunset. */
import type { ReplayFinding } from 'dateline/runtime/replay-tally'
import { createTally } from 'dateline/runtime/replay-tally'
import { createReplayLogged } from '../api/replay.ts'
import type { WholeRequest } from '../api/request-log-queries.ts'
import type { ServiceVersion } from '../api/version-table.ts'
import type { Database, Statement } from '../database/database.ts'
import { readSpace } from '../database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { firstTouchedDay } from '../tenants/usage/touches.ts'

/** Requests of each tenant that are examined, latest first. */
const LOOKED_AT = 1000

// A step to the next tenant reads one row of the index, however many requests a tenant has.
const spacesIn = (environment: Environment): Statement => ({
  text: `WITH RECURSIVE logged (tenant_id) AS (
           (SELECT l.tenant_id FROM ${environment}.request_log l ORDER BY l.tenant_id LIMIT 1)
           UNION ALL
           SELECT (SELECT l.tenant_id FROM ${environment}.request_log l WHERE l.tenant_id > g.tenant_id
                    ORDER BY l.tenant_id LIMIT 1)
             FROM logged g WHERE g.tenant_id IS NOT NULL
         )
         SELECT tenant_id AS space FROM logged WHERE tenant_id IS NOT NULL
          UNION SELECT DISTINCT tenant_id FROM ${environment}.touched_changes WHERE version = $1 AND day >= $2
          ORDER BY 1`,
})

const requestsIn = (environment: Environment): Statement => ({
  text: `SELECT * FROM (SELECT * FROM ${environment}.request_log WHERE tenant_id = $1
                         ORDER BY created DESC, id DESC LIMIT $2) AS r
          WHERE r.version = $3 ORDER BY r.created DESC, r.id DESC`,
})

const touchesIn = (environment: Environment): Statement => ({
  text: `SELECT change, sum(requests)::float8 AS requests, max(last_at) AS last_at
           FROM ${environment}.touched_changes WHERE tenant_id = $1 AND version = $2 AND day >= $3
          GROUP BY change ORDER BY requests DESC, change`,
})

const PINS: Statement = {
  text: `SELECT p.tenant_id, p.environment, t.name FROM control.pins p JOIN control.tenants t ON t.id = p.tenant_id
          WHERE p.version = $1 ORDER BY p.tenant_id, p.environment`,
}

const NAME: Statement = { text: 'SELECT name FROM control.tenants WHERE id = $1' }

interface KeyUse {
  readonly key_id: string
  readonly requests: number
  readonly last_at: string
  readonly operations: Readonly<Record<string, number>>
  /** What the key's requests must change: `breaks`, `silent` and other findings of a replay. */
  readonly findings: readonly ReplayFinding[]
}

/** One environment of a tenant that still uses the version. */
export interface VersionBlocker {
  readonly tenant_id: string
  readonly name: string
  readonly environment: Environment
  readonly pinned: boolean
  readonly keys: readonly KeyUse[]
  /** Changes of later versions that altered its requests in the last 30 days. */
  readonly changes: readonly {
    readonly change: string
    readonly requests: number
    readonly last_at: string
  }[]
}

export interface VersionBlockers {
  readonly version: string
  readonly sunset: string | null
  readonly upgrade_to: string
  readonly blockers: readonly VersionBlocker[]
}

/**
 * Returns the tenants that are pinned to the version, or whose latest 1,000 requests in an environment use it, with their keys,
 * operations and the properties that an upgrade to the newest version changes.
 *
 * @throws ControlError `invalid` for the newest version or an unknown one.
 */
export async function showVersionBlockers(
  { control, clock }: Operator,
  name: string,
  versions: readonly ServiceVersion[],
): Promise<VersionBlockers> {
  const from = versions.find((version) => version.name === name)
  const to = versions.at(-1)!
  if (!from || from === to) {
    const older = versions.slice(0, -1).map((version) => version.name)
    throw new ControlError(
      'invalid',
      `there is no older version ${name}: expected one of ${older.join(', ')}`,
    )
  }
  const replay = createReplayLogged(versions, from.name, to.name)
  const pins = (await control.query<Pin>(PINS, [name])).rows
  const blockers: VersionBlocker[] = []
  for (const environment of ENVIRONMENTS) {
    const pinned = new Map(
      pins.filter((pin) => pin.environment === environment).map((pin) => [pin.tenant_id, pin.name]),
    )
    const since = firstTouchedDay(clock.service(environment))
    const { rows } = await control.query<{ space: string }>(spacesIn(environment), [name, since])
    const spaces = new Map(rows.map(({ space }) => [readSpace(space).tenantId, space]))
    // One tenant at a time, so that memory does not grow with their number.
    for (const tenantId of new Set([...pinned.keys(), ...spaces.keys()])) {
      const space = spaces.get(tenantId)
      const keys = space === undefined ? [] : await readKeys(control, environment, space, name, replay)
      const changes = space === undefined ? [] : await readChanges(control, environment, [space, name, since])
      if (keys.length === 0 && changes.length === 0 && !pinned.has(tenantId)) continue
      blockers.push({
        tenant_id: tenantId,
        name: pinned.get(tenantId) ?? (await readName(control, tenantId)),
        environment,
        pinned: pinned.has(tenantId),
        keys,
        changes,
      })
    }
  }
  return { version: name, sunset: from.sunset ?? null, upgrade_to: to.name, blockers }
}

interface Pin {
  readonly tenant_id: string
  readonly environment: Environment
  readonly name: string
}

async function readName(control: Database, tenantId: string): Promise<string> {
  return (await control.query<{ name: string }>(NAME, [tenantId])).rows[0]?.name ?? ''
}

async function readChanges(
  control: Database,
  environment: Environment,
  values: readonly [space: string, version: string, since: string],
): Promise<VersionBlocker['changes']> {
  const { rows } = await control.query<{ change: string; requests: number; last_at: number }>(
    touchesIn(environment),
    [...values],
  )
  return rows.map((row) => ({ ...row, last_at: isoTime(row.last_at) }))
}

/** Returns the use of each key, latest first. */
async function readKeys(
  control: Database,
  environment: Environment,
  space: string,
  version: string,
  replay: ReturnType<typeof createReplayLogged>,
): Promise<readonly KeyUse[]> {
  const { rows } = await control.query<WholeRequest>(requestsIn(environment), [space, LOOKED_AT, version])
  const tally = createTally()
  const uses = new Map<string, { last: number; requests: number; operations: Record<string, number> }>()
  for (const [order, row] of rows.entries()) {
    const use = uses.get(row.key_id) ?? { last: row.created, requests: 0, operations: {} }
    uses.set(row.key_id, use)
    use.requests++
    const replayed = replay(row)
    const operation = replayed?.operation ?? 'none'
    use.operations[operation] = (use.operations[operation] ?? 0) + 1
    if (replayed) tally.add(row.key_id, replayed.operation, replayed.notes, { order, at: row.id })
  }
  const findings = new Map(tally.callers().map((each) => [each.caller, each.findings]))
  return [...uses].map(([key_id, { last, requests, operations }]) => ({
    key_id,
    requests,
    last_at: isoTime(last),
    operations,
    findings: findings.get(key_id) ?? [],
  }))
}
