/** Two-phase commit for a database that Citus distributes by tenant. */
import type { Statement } from './database.ts'

/**
 * A table that is always empty. It is local to the coordinator, like the rest of `control`, but the only table there
 * that Citus has in its metadata.
 */
export const TWO_PHASE_TABLE = 'control.two_phase'

/**
 * Makes the transaction commit in two phases. Without it, Citus commits on a single worker before the coordinator,
 * because it does not track writes to tables outside its metadata. A crash between the two commits would then leave the
 * change on only one of them.
 */
export const COMMIT_IN_TWO_PHASES: Statement = { text: `DELETE FROM ${TWO_PHASE_TABLE}` }
