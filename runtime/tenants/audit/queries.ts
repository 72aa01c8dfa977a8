import type { Database, Statement } from '../../database/database.ts'
import type { RecordFilter } from '../../database/define-list.ts'
import { codeOf, NOT_NULL_VIOLATION, tableOf } from '../../database/errors.ts'
import {
  ALL_ROWS,
  BoundValues,
  combine,
  cutPage,
  type IndexWalk,
  pageStatement,
  type Records,
  type RequestedPage,
  readPage,
} from '../../database/page.ts'
import { readSpace } from '../../database/space.ts'
import { inSteps } from '../../database/steps.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { type AuditEntry, entryText } from './entry.ts'

/** An entry with its position in the chain. Hashes are hexadecimal. */
export interface AuditRow {
  readonly sequence: number
  readonly id: string
  readonly environment: Environment | null
  readonly actor_type: AuditEntry['actorType']
  readonly actor_id: string | null
  readonly action: string
  readonly target_id: string | null
  readonly outcome: AuditEntry['outcome']
  readonly request_id: string | null
  readonly ip: string | null
  readonly version: string | null
  readonly hash: string
  readonly previous_hash: string | null
  readonly created: number
}

/**
 * Whether the default sandbox still has the space with that number of wipes. The number is negative while the tenant moves to
 * or from a different installation, and everything fails, also entries of the account.
 */
const IN_DEFAULT = 'h.wipes = coalesce($15::integer, h.wipes) AND h.wipes >= 0'

/** Whether a named sandbox still has the space. */
const IN_NAMED = '$15 = ANY (h.open_spaces)'

/**
 * Builds the statement that appends an entry to the tenant's chain and moves the head. The head stays locked until
 * the end of the transaction, so the statement must be the last one. The database computes the hash, because the
 * caller cannot know the hash of the previous entry. It hashes bytes, because a function on text would depend on the
 * encoding of the server.
 *
 * A transaction in a space that was wiped meanwhile would leave rows that no request can find. In that case
 * `sequence` becomes null, which violates NOT NULL on purpose. $15 is null for an entry of the account, which has no
 * space.
 *
 * @param schema schema name with a dot, if it is not in the search_path.
 * @param isOpen condition on $15 and the head: whether the space may still be written to.
 */
function appendingTo(schema: string, name?: string, isOpen = IN_DEFAULT): Statement {
  const moveHead = `INSERT INTO ${schema}audit_heads AS h (tenant_id, sequence, hash, wipes)
     VALUES ($1, 1, sha256($2::bytea || 'null' || $3::bytea), ${isOpen === IN_DEFAULT ? 'coalesce($15::integer, 0)' : '0'})
     ON CONFLICT (tenant_id) DO UPDATE SET
       sequence = CASE WHEN ${isOpen} THEN h.sequence + 1 END,
       previous_hash = h.hash,
       hash = sha256($2::bytea || '"' || decode(encode(h.hash, 'hex'), 'escape') || '"' || $3::bytea)`
  const addEntry = (tenant: string) =>
    `INSERT INTO ${schema}audit_log (tenant_id, sequence, hash, previous_hash, created, id, environment, actor_type,
                                     actor_id, action, target_id, outcome, request_id, ip, version)
     SELECT ${tenant}, h.sequence, h.hash, h.previous_hash, $4::timestamptz, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14`
  return {
    ...(name !== undefined && { name }),
    text: `WITH head AS (${moveHead} RETURNING sequence, hash, previous_hash) ${addEntry('$1')} FROM head h`,
    // The first step has locked the head, so the second one reads the right number.
    steps: inSteps(
      name,
      moveHead,
      `${addEntry('h.tenant_id')} FROM ${schema}audit_heads h WHERE h.tenant_id = $1`,
    ),
  }
}

const APPEND_ENTRY = appendingTo('', 'audit_append')

const APPEND_IN_NAMED = appendingTo('', 'audit_append_named', IN_NAMED)

const APPEND_IN: Readonly<Record<Environment, Statement>> = {
  sandbox: appendingTo('sandbox.'),
  live: appendingTo('live.'),
}

/** Whether an error means that the space was wiped, or that its tenant left this installation, during the transaction. */
export function isSpaceWiped(error: unknown): boolean {
  return codeOf(error) === NOT_NULL_VIOLATION && tableOf(error) === 'audit_heads'
}

/** Returns the parameters $1 to $15 of each statement that writes an entry of the default sandbox or of live. */
export function entryValues(space: string, entry: AuditEntry): unknown[] {
  const { tenantId, wipes } = readSpace(space)
  return valuesOf(tenantId, entry, wipes)
}

/** @param place number of wipes, or the space of a named sandbox. */
function valuesOf(tenantId: string, entry: AuditEntry, place: number | string | null): unknown[] {
  const [before, after] = entryText(entry)
  const { created, id, environment, actorType, actorId, action, targetId, outcome } = entry
  const what = [environment, actorType, actorId, action, targetId, outcome]
  return [
    tenantId,
    Buffer.from(before),
    Buffer.from(after),
    toTimestamp(created),
    id,
    ...what,
    entry.requestId,
    entry.ip,
    entry.version,
    place,
  ]
}

/**
 * Appends an entry to the tenant's chain. Must come last in the transaction that it describes. Fails with an error
 * that `isSpaceWiped` recognizes if the space was wiped meanwhile.
 */
export function appendAudit(db: Database, space: string, entry: AuditEntry): Promise<unknown> {
  const { tenantId, sandbox } = readSpace(space)
  if (sandbox === undefined) return db.query(APPEND_ENTRY, entryValues(space, entry))
  return db.query(APPEND_IN_NAMED, valuesOf(tenantId, entry, space))
}

/** Appends an entry in an environment's schema, for the owner. Independent of the tenant's space. */
export function appendAuditIn(
  db: Database,
  environment: Environment,
  tenantId: string,
  entry: AuditEntry,
): Promise<unknown> {
  return db.query(APPEND_IN[environment], valuesOf(tenantId, entry, null))
}

const COLUMNS = `a.sequence, a.id, a.environment, a.actor_type, a.actor_id, a.action, a.target_id, a.outcome, a.request_id,
  a.ip, a.version, encode(a.hash, 'hex') AS hash, encode(a.previous_hash, 'hex') AS previous_hash, a.created`

const LISTED = { table: 'audit_log', alias: 'a', columns: COLUMNS }

export async function listAudit(
  db: Database,
  tenantId: string,
  { created, target_id, action, actor_id }: RecordFilter<'listAuditEntries'>,
  page: RequestedPage,
): Promise<Records<AuditRow>> {
  const bindings = new BoundValues(tenantId)
  const filters = Object.entries({ target_id, action, actor_id }).flatMap(([column, values]) =>
    values ? [{ column, values }] : [],
  )
  const [only] = filters
  if (filters.length <= 1) {
    const walk: IndexWalk = only ? { columns: [only.column], keys: combine(only.values) } : ALL_ROWS
    return readPage<AuditRow>(db, LISTED, bindings, [walk], created, page)
  }
  // No index covers several filters. Without a name, PostgreSQL plans the statement for its values, and starts with
  // the rarest.
  const where = filters.map(({ column, values }) =>
    values.length === 1
      ? `a.${column} = ${bindings.bind(values[0])}`
      : `a.${column} = ANY (${bindings.bind(values)})`,
  )
  const walk: IndexWalk = { columns: [], keys: [[]], where: where.join(' AND ') }
  const { text } = pageStatement(LISTED, bindings, [walk], created, page)
  const { rows } = await db.query<AuditRow>({ text }, bindings.values)
  return cutPage(rows, page)
}

/** An entry with its place in the chain. */
export interface SequencedEntry {
  readonly sequence: number
  readonly id: string
  readonly action: string
  readonly target_id: string | null
  /** Service time, milliseconds since the epoch. */
  readonly created: number
}

const SEQUENCED =
  'SELECT a.sequence, a.id, a.action, a.target_id, a.created FROM audit_log a WHERE a.tenant_id = $1'

/** Returns the entry with the ID; undefined if the tenant has no such entry. */
export async function readEntry(
  db: Database,
  tenantId: string,
  id: string,
): Promise<SequencedEntry | undefined> {
  return (await db.query<SequencedEntry>({ text: `${SEQUENCED} AND a.id = $2` }, [tenantId, id])).rows[0]
}

/** Returns the newest entry; undefined if the tenant has no entries. */
export async function readNewestEntry(db: Database, tenantId: string): Promise<SequencedEntry | undefined> {
  const text = `${SEQUENCED} ORDER BY a.sequence DESC LIMIT 1`
  return (await db.query<SequencedEntry>({ text }, [tenantId])).rows[0]
}

/** Returns entries with a number greater than `after`, in order. */
export async function readEntriesAfter(
  db: Database,
  tenantId: string,
  after: number,
  limit: number,
): Promise<readonly SequencedEntry[]> {
  const text = `${SEQUENCED} AND a.sequence > $2 ORDER BY a.sequence LIMIT $3`
  return (await db.query<SequencedEntry>({ text }, [tenantId, after, limit])).rows
}

/** The newest entry of a chain. */
export interface AuditHead {
  readonly sequence: number
  readonly hash: string
}

/** Returns the head of the tenant's chain; undefined if it has no entries. Needs the owner's connection. */
export async function readAuditHead(
  db: Database,
  environment: Environment,
  tenantId: string,
): Promise<AuditHead | undefined> {
  const text = `SELECT sequence, encode(hash, 'hex') AS hash FROM ${environment}.audit_heads WHERE tenant_id = $1`
  const { rows } = await db.query<AuditHead>({ text }, [tenantId])
  return rows[0]
}

/** Returns up to `limit` entries with a number greater than `after`, in order. Needs the owner's connection. */
export async function readAuditChain(
  db: Database,
  environment: Environment,
  tenantId: string,
  after: number,
  limit: number,
): Promise<readonly AuditRow[]> {
  const text = `SELECT ${COLUMNS} FROM ${environment}.audit_log a
                WHERE a.tenant_id = $1 AND a.sequence > $2 ORDER BY a.sequence LIMIT $3`
  const { rows } = await db.query<AuditRow>({ text }, [tenantId, after, limit])
  return rows
}
