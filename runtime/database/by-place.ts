import type { Statement } from './database.ts'
import { inSteps } from './steps.ts'

/**
 * A statement that changes rows at their places, each in one step (a Tid Scan): `WHERE t.tenant_id = $1 AND t.ctid = …`, of rows
 * that the transaction has locked. By their keys PostgreSQL may also walk through all rows of the tenant and compare each with
 * those given, which it takes for cheap where most tenants have few. So the tenant is asked for in a form that leads into no
 * index, but where tables are distributed by tenant, since there it leads to the shard.
 */
export function byPlace(name: string, text: string): Statement {
  return {
    name,
    text: text.replaceAll(/\w+\.tenant_id = \$1(?= AND \w+\.ctid)/g, (named) => `(${named}) IS TRUE`),
    steps: inSteps(name, text),
  }
}
