/** Finds who still uses a version, so that an operator knows what blocks its sunset. */
import { createTally, type ReplayFinding } from 'dateline/runtime/replay-tally'
import { createReplayLogged } from '../api/replay.ts'
import type { WholeRequest } from '../api/request-log-queries.ts'
import type { ServiceVersion } from '../api/version-table.ts'
import type { Database, Statement } from '../database/database.ts'
import { spaceOf } from '../database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { firstTouchedDay } from '../tenants/usage/touches.ts'

/** Requests of each tenant that are examined, latest first. */
const LOOKED_AT = 1000

const TENANTS: Statement = {
  text: `SELECT id, name, sandbox_wipes FROM control.tenants WHERE id > $1 ORDER BY id LIMIT $2`,
}

/** Tenants of one page. */
const PAGE = 500

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

const PINS: Statement = { text: 'SELECT tenant_id, environment FROM control.pins WHERE version = $1' }

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
  const { rows: pins } = await control.query<Pin>(PINS, [name])
  const pinned = new Set(pins.map(({ tenant_id, environment }) => `${tenant_id} ${environment}`))
  const blockers: VersionBlocker[] = []
  for await (const tenant of tenantsOf(control))
    for (const environment of ENVIRONMENTS) {
      const space = environment === 'sandbox' ? spaceOf(tenant.id, tenant.sandbox_wipes) : tenant.id
      const since = firstTouchedDay(clock.service(environment))
      const keys = await readKeys(control, environment, space, name, replay)
      const changes = await readChanges(control, environment, [space, name, since])
      const isPinned = pinned.has(`${tenant.id} ${environment}`)
      if (keys.length === 0 && changes.length === 0 && !isPinned) continue
      blockers.push({ tenant_id: tenant.id, name: tenant.name, environment, pinned: isPinned, keys, changes })
    }
  return { version: name, sunset: from.sunset ?? null, upgrade_to: to.name, blockers }
}

interface Pin {
  readonly tenant_id: string
  readonly environment: Environment
}

interface Tenant {
  readonly id: string
  readonly name: string
  readonly sandbox_wipes: number
}

/** Every other statement names one tenant, so that it also runs where tables are distributed by tenant. */
async function* tenantsOf(control: Database): AsyncIterable<Tenant> {
  for (let after = ''; ; ) {
    const { rows } = await control.query<Tenant>(TENANTS, [after, PAGE])
    yield* rows
    if (rows.length < PAGE) return
    after = rows.at(-1)!.id
  }
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
