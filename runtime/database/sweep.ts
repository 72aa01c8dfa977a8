import type { Statement } from './database.ts'
import { inSteps } from './steps.ts'

/**
 * Deletes about $2 of the oldest rows of all tenants whose column is at or before $1. A single server selects rows by
 * ctid and skips rows that another node is deleting. On Citus a ctid is unique only within a shard and SKIP LOCKED does
 * not span shards, so the statement deletes all rows up to the column value of the $2-th oldest.
 */
export function sweepOldest(table: string, column: string): Statement {
  const oldest = `FROM ${table} WHERE ${column} <= $1 ORDER BY ${column} LIMIT $2`
  return {
    text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid ${oldest} FOR UPDATE SKIP LOCKED))`,
    long: true,
    steps: inSteps(
      undefined,
      `DELETE FROM ${table} WHERE ${column} <= (
       SELECT max(oldest.${column}) FROM (
         SELECT ${column} ${oldest}) AS oldest)`,
    ),
  }
}
