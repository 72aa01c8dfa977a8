import type { Statement } from './database.ts'
import { inSteps } from './steps.ts'

/**
 * Deletes about $2 of the oldest rows of all tenants whose column is at or before $1. A single server selects rows by
 * ctid and skips rows that another node is deleting. On Citus a ctid is unique only within a shard and SKIP LOCKED does
 * not span shards, so the statement deletes all rows up to the column value of the $2-th oldest.
 *
 * @param condition of the deleted rows; `r` is the table.
 */
export function sweepOldest(table: string, column: string, condition = 'true'): Statement {
  const oldest = `FROM ${table} r WHERE r.${column} <= $1 AND ${condition} ORDER BY r.${column} LIMIT $2`
  return {
    text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid ${oldest} FOR UPDATE OF r SKIP LOCKED))`,
    long: true,
    steps: inSteps(
      undefined,
      `DELETE FROM ${table} r WHERE r.${column} <= (
       SELECT max(oldest.${column}) FROM (
         SELECT r.${column} ${oldest}) AS oldest) AND ${condition}`,
    ),
  }
}
