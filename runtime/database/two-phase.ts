/** Commits over several servers, for a database that is distributed by tenant. */
import type { Statement } from './database.ts'

/** Empty for ever; the coordinator's own, as all of `control`, and known to Citus, as nothing else there. */
export const TWO_PHASE_TABLE = 'control.two_phase'

/**
 * Has the transaction commit in two phases. Citus would have a single worker commit before the coordinator does, as it does
 * not see what is written beside it in tables that it does not know: should one of them die between, only one has it.
 */
export const COMMIT_IN_TWO_PHASES: Statement = { text: `DELETE FROM ${TWO_PHASE_TABLE}` }
