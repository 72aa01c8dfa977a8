import type { Statement } from './database.ts'
import { inSteps } from './steps.ts'

/**
 * Builds a statement that changes rows which the transaction has locked, each found by its ctid in a Tid Scan: `WHERE
 * t.tenant_id = $1 AND t.ctid = …`. Looking rows up by key is riskier: if most tenants have few rows, PostgreSQL may
 * scan all rows of the tenant and compare each with the given keys. The tenant condition is written as `(…) IS TRUE`,
 * so that no index matches it. On Citus the plain condition stays, because it routes the statement to the shard.
 */
export function byPlace(name: string, text: string): Statement {
  return {
    name,
    text: text.replaceAll(/\w+\.tenant_id = \$1(?= AND \w+\.ctid)/g, (named) => `(${named}) IS TRUE`),
    steps: inSteps(name, text),
  }
}
