/** What the settlement lines of all tenants come to on a day of the network. Needs the owner's connection. */
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { keyOf, SETTLED, type Settled } from './settlement-report.ts'

const LINES = `s.settlement_lines l
  JOIN s.card_transactions t ON t.tenant_id = l.tenant_id AND t.id = l.source_id
  JOIN s.cards c ON c.tenant_id = t.tenant_id AND c.id = t.card_id`

const KEY = `coalesce(c.card_program_id, '') || ' ' || coalesce(l.interchange_category, 'standard')`

const inSchema = (environment: Environment, text: string) => ({
  text: text.replaceAll(/\bs\./g, `${environment}.`),
})

const SUMS = `
  SELECT coalesce(c.card_program_id, '') AS card_program_id, coalesce(l.interchange_category, 'standard') AS interchange_category,
         count(*) FILTER (WHERE l.type = 'card_transaction')::text AS clearings_count,
         coalesce(-sum(l.amount) FILTER (WHERE l.type = 'card_transaction'), 0)::text AS clearings_amount,
         count(*) FILTER (WHERE l.type = 'card_refund')::text AS refunds_count,
         coalesce(sum(l.amount) FILTER (WHERE l.type = 'card_refund'), 0)::text AS refunds_amount,
         coalesce(sum(l.amount) FILTER (WHERE l.type = 'interchange'), 0)::text AS interchange_amount,
         coalesce(-sum(l.amount) FILTER (WHERE l.type = 'network_fee'), 0)::text AS fees_amount
    FROM ${LINES}
   WHERE l.network_date = $1 AND l.type IN ('card_transaction', 'card_refund', 'interchange', 'network_fee')
   GROUP BY 1, 2`

/** Returns the sums of a day by `keyOf`. The database adds them up. */
export async function sumLines(
  control: Database,
  environment: Environment,
  date: string,
): Promise<ReadonlyMap<string, Settled>> {
  type Row = Record<(typeof SETTLED)[number] | 'card_program_id' | 'interchange_category', string>
  const { rows } = await control.query<Row>(inSchema(environment, SUMS), [date])
  return new Map(
    rows.map((row) => [
      keyOf(row),
      Object.fromEntries(SETTLED.map((name) => [name, BigInt(row[name])])) as Settled,
    ]),
  )
}

/** Maximum number of IDs that may explain a difference, for each cause. */
const MAX_IDS = 20

/** IDs by `keyOf`. An empty key is for all. */
export type IdsByKey = ReadonlyMap<string, readonly string[]>

async function readIds(
  control: Database,
  environment: Environment,
  text: string,
  values: readonly unknown[],
): Promise<IdsByKey> {
  const { rows } = await control.query<{ key: string; ids: string[] }>(inSchema(environment, text), values)
  return new Map(rows.map(({ key, ids }) => [key, ids]))
}

const grouped = (key: string, id: string, from: string) =>
  `SELECT key, (array_agg(id ORDER BY id))[1:${MAX_IDS}] AS ids FROM (SELECT DISTINCT ${key} AS key, ${id} AS id FROM ${from}) AS n GROUP BY key`

/** Whether a clearing or refund of the line's amount was sent on the day. */
const SENT = `EXISTS (
  SELECT FROM json_array_elements(t.messages) m
   WHERE m->>'kind' = CASE l.type WHEN 'card_refund' THEN 'refund' ELSE 'clearing' END AND (m->>'amount')::bigint = abs(l.amount)
     AND (to_timestamp((m->>'at')::bigint / 1000.0) AT TIME ZONE 'UTC')::date = $1::date)`

const CLEARED = `l.type IN ('card_transaction', 'card_refund')`

/** Days in which a clearing can be booked that the network counts to another day. */
const LATE_DAYS = 3

/** Returns transactions that were sent on the day and are booked for a day near it. */
export const readLate = (
  control: Database,
  environment: Environment,
  date: string,
  keys: readonly string[],
) =>
  readIds(
    control,
    environment,
    grouped(
      KEY,
      'l.source_id',
      `${LINES} WHERE l.network_date BETWEEN $1::date - ${LATE_DAYS} AND $1::date + ${LATE_DAYS} AND l.network_date <> $1::date
         AND ${CLEARED} AND ${KEY} = ANY ($2) AND ${SENT}`,
    ),
    [date, keys],
  )

/** Returns transactions that are booked for the day and were sent on another one. */
export const readEarly = (
  control: Database,
  environment: Environment,
  date: string,
  keys: readonly string[],
) =>
  readIds(
    control,
    environment,
    grouped(
      KEY,
      'l.source_id',
      `${LINES} WHERE l.network_date = $1::date AND ${CLEARED} AND ${KEY} = ANY ($2) AND NOT ${SENT}`,
    ),
    [date, keys],
  )

/** Returns transactions that are booked for the day. */
export const readBooked = (
  control: Database,
  environment: Environment,
  date: string,
  keys: readonly string[],
) =>
  readIds(
    control,
    environment,
    grouped(
      KEY,
      'l.source_id',
      `${LINES} WHERE l.network_date = $1::date AND ${CLEARED} AND ${KEY} = ANY ($2)`,
    ),
    [date, keys],
  )

/** Returns open exceptions of the day by card program; those of unknown cards have an empty one. */
export const readOpenExceptions = (control: Database, environment: Environment, date: string) =>
  readIds(
    control,
    environment,
    grouped(
      `coalesce(c.card_program_id, '')`,
      'e.id',
      `control.network_exceptions e
         LEFT JOIN control.network_files f ON f.environment = e.environment AND f.id = e.file_id
         LEFT JOIN control.card_directory d ON d.environment = e.environment AND d.digest = e.card_digest
         LEFT JOIN s.cards c ON c.tenant_id = d.space AND c.id = d.card_id
        WHERE e.environment = '${environment}' AND e.resolved IS NULL
          AND coalesce(f.business_date, left(e.message->>'sent_at', 10)::date) = $1::date`,
    ),
    [date],
  )

/** Returns lines of the day whose ledger entry is missing or has another amount. */
export const readUnposted = (control: Database, environment: Environment, date: string) =>
  readIds(
    control,
    environment,
    grouped(
      `''`,
      'l.id',
      `s.settlement_lines l LEFT JOIN s.ledger_entries e ON e.tenant_id = l.tenant_id AND e.id = l.ledger_entry_id
        WHERE l.network_date = $1::date AND ${CLEARED} AND coalesce(e.amount, 0) <> -l.amount`,
    ),
    [date],
  )
