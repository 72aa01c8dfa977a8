/** What the metrics read about the whole deployment. The owner reads it; no value is of a single tenant. */
import type { Database, Statement } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'

/** Limits what one read costs during a backlog. The rows that were written first are read first. */
const MAX_ROWS = 10_000

// `webhook_waiting` has retries, whose due time is in the future unless the workers are late. Events without attempts wait
// too: workers plan the first attempts, so a stopped worker leaves an empty queue behind.
const queuesIn = (environment: Environment) => `
  SELECT '${environment}' AS environment, 'webhooks' AS queue, true AS service,
         least((SELECT min(r.due_at) FROM (SELECT due_at FROM ${environment}.webhook_ready LIMIT ${MAX_ROWS}) AS r),
               (SELECT min(w.due_at) FROM ${environment}.webhook_waiting w),
               (SELECT min(e.created) FROM ${environment}.webhook_senders s
                  JOIN ${environment}.event_heads h ON h.tenant_id = s.tenant_id AND h.sequence > s.planned
                  CROSS JOIN LATERAL (SELECT n.created FROM ${environment}.events n
                                       WHERE n.tenant_id = s.tenant_id AND n.sequence > s.planned
                                       ORDER BY n.sequence LIMIT 1) AS e)) AS since
  UNION ALL
  SELECT '${environment}', 'chain_signing', true,
         (SELECT min(c.created) FROM (SELECT created FROM ${environment}.chain_transfers WHERE due IS NOT NULL
                                       ORDER BY due LIMIT ${MAX_ROWS}) AS c)
  UNION ALL
  SELECT '${environment}', 'bank', true,
         (SELECT min(p.created) FROM (SELECT tenant_id, id, state FROM ${environment}.bank_transfers WHERE due IS NOT NULL
                                       ORDER BY due LIMIT ${MAX_ROWS}) AS b
            JOIN ${environment}.payouts p ON p.tenant_id = b.tenant_id AND p.id = b.id
           WHERE b.state IN ('queued', 'sending'))
  UNION ALL
  SELECT '${environment}', 'chain', false,
         (SELECT min(t.signed_at) FROM control.chain_payments p
            JOIN control.chain_transactions t ON t.chain_id = p.chain_id AND t.signer = p.signer AND t.nonce = p.nonce
           WHERE p.state = 'open' AND p.environment = '${environment}')`

const QUEUES: Statement = { text: ENVIRONMENTS.map(queuesIn).join(' UNION ALL ') }

export interface QueueAge {
  readonly environment: Environment
  readonly queue: 'webhooks' | 'chain_signing' | 'chain' | 'bank'
  readonly ageMs: number
}

/**
 * Returns the age of the oldest row of each queue, 0 if nothing waits: webhook attempts that are due or not planned, USDC payouts that
 * are not signed, USDC payouts that are signed but not final, dollar payouts that the bank has not accepted.
 */
export async function readQueueAges(control: Database, clock: Clock): Promise<readonly QueueAge[]> {
  const { rows } = await control.query<
    Pick<QueueAge, 'environment' | 'queue'> & { readonly service: boolean; readonly since: number | null }
  >(QUEUES)
  return rows.map(({ environment, queue, service, since }) => {
    const now = service ? clock.service(environment) : clock.machine()
    return { environment, queue, ageMs: since === null ? 0 : Math.max(0, now - since) }
  })
}

const SIZE: Statement = { text: 'SELECT pg_database_size(current_database())::float8 AS bytes' }

/** Returns the size of the database in bytes. */
export async function readDatabaseBytes(control: Database): Promise<number> {
  return (await control.query<{ bytes: number }>(SIZE)).rows[0]!.bytes
}

/** Bounds the series of labels that the operator names. */
const MAX_NAMES = 20

// Without pg_read_all_stats, a role that is not a superuser sees only that there are replicas.
const REPLICAS: Statement = {
  text: `SELECT coalesce(application_name, 'unknown') AS name,
                max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 AS bytes,
                max(coalesce(extract(epoch FROM replay_lag), 0) * 1000)::float8 AS "lagMs"
           FROM pg_stat_replication GROUP BY 1 ORDER BY 1 LIMIT ${MAX_NAMES}`,
}

const SLOTS: Statement = {
  text: `SELECT slot_name AS name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 AS bytes
           FROM pg_replication_slots WHERE restart_lsn IS NOT NULL AND NOT temporary ORDER BY 1 LIMIT ${MAX_NAMES}`,
}

export interface ReplicationState {
  /** `bytes` is null if the role may not read it. */
  readonly replicas: readonly {
    readonly name: string
    readonly bytes: number | null
    readonly lagMs: number
  }[]
  /** Bytes of WAL that the server retains for each slot. */
  readonly slots: readonly { readonly name: string; readonly bytes: number }[]
}

/** Returns how far the replicas are behind. Throws if the server gives no WAL position, as some managed ones. */
export async function readReplication(control: Database): Promise<ReplicationState> {
  const [replicas, slots] = await Promise.all([
    control.query<ReplicationState['replicas'][number]>(REPLICAS),
    control.query<ReplicationState['slots'][number]>(SLOTS),
  ])
  return { replicas: replicas.rows, slots: slots.rows }
}

const ARCHIVER: Statement = {
  text: `SELECT failed_count::int AS failed, last_archived_time AS "archivedAt",
                coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS failing,
                coalesce(stats_reset, pg_postmaster_start_time()) AS "countedSince"
           FROM pg_stat_archiver WHERE current_setting('archive_mode') <> 'off'`,
}

export interface ArchiverState {
  /** Failures since the statistics of the server were reset. */
  readonly failed: number
  /** Whether the last attempt failed. */
  readonly failing: boolean
  /** Machine time, in milliseconds; null if no segment has been archived yet. */
  readonly archivedAt: number | null
  readonly countedSince: number
}

/** Returns how WAL archiving works, or nothing if the server does not archive. */
export async function readArchiver(control: Database): Promise<readonly ArchiverState[]> {
  return (await control.query<ArchiverState>(ARCHIVER)).rows
}

const CLOSED_BY_MOVES: Statement = {
  text: `SELECT s.state, min(m.updated) AS since FROM (VALUES ('fenced'), ('arriving')) AS s (state)
           LEFT JOIN control.tenant_moves m ON m.state = s.state AND (m.state = 'fenced' OR m.left_by IS NOT NULL)
          GROUP BY s.state`,
}

export interface ClosedByMove {
  /** `fenced`: at the source. `arriving`: at the target, which has all rows. */
  readonly state: 'fenced' | 'arriving'
  readonly ageMs: number
}

/** Returns for how long the first tenant has been closed by a move or an export that has not ended, 0 if none is. */
export async function readClosedByMoves(control: Database, clock: Clock): Promise<readonly ClosedByMove[]> {
  const { rows } = await control.query<{ state: ClosedByMove['state']; since: number | null }>(
    CLOSED_BY_MOVES,
  )
  return rows.map(({ state, since }) => ({
    state,
    ageMs: since === null ? 0 : Math.max(0, clock.machine() - since),
  }))
}

const CERTIFICATES: Statement = {
  text: `SELECT environment, max(expires_at) AS "expiresAt" FROM control.network_certificates
          WHERE retired_at IS NULL GROUP BY environment`,
}

/** Returns when the last certificate of each environment's card processor expires; machine time. */
export async function readProcessorCertificates(
  control: Database,
): Promise<readonly { readonly environment: Environment; readonly expiresAt: number }[]> {
  return (await control.query<{ environment: Environment; expiresAt: number }>(CERTIFICATES)).rows
}
