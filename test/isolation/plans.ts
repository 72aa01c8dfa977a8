import pg from 'pg'
import { codeOf } from '../../runtime/database/errors.ts'
import type { Recorded } from './recorder.ts'

/** A node of a plan, as `EXPLAIN (FORMAT JSON)` writes it. */
interface Plan {
  readonly 'Node Type': string
  readonly Operation?: string
  readonly 'Relation Name'?: string
  readonly Schema?: string
  readonly Output?: readonly string[]
  readonly Plans?: readonly Plan[]
  readonly [property: string]: unknown
}

/** How a statement reaches the rows of one tenant table: by which parameter its tenant is named. */
export interface Access {
  readonly table: string
  readonly node: string
  /** 1 for `$1`; undefined when no parameter names the tenant. */
  readonly parameter: number | undefined
  /** The same, where the tenant of another access does not count. */
  readonly own: number | undefined
}

export interface Planner {
  /** Every access of the statement to a table with a `tenant_id`. */
  accessesOf(recorded: Recorded): Promise<Access[]>
  end(): Promise<void>
}

const CONDITIONS = ['Index Cond', 'Filter', 'Recheck Cond', 'Join Filter', 'TID Cond', 'One-Time Filter']

/** `p.tenant_id = $1`, as PostgreSQL writes it. */
const NAMED = /\btenant_id(?:\)::text)? = \(?\$(\d+)\b|\$(\d+)\)?(?:::text)? = \(?(?:\w+\.)?tenant_id\b/

/** `t.tenant_id = p.tenant_id`: the tenant of another access of the same statement. */
const FOLLOWING = /\b(\w+)\.tenant_id = (\w+)\.tenant_id\b/

/**
 * Asks PostgreSQL how it would run statements, whatever their values: each scan of a tenant table has to be narrowed to
 * one tenant by the plan itself.
 *
 * @param url of the database, as the owner.
 */
export async function openPlanner(url: string): Promise<Planner> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.columns
     WHERE column_name = 'tenant_id' AND table_schema IN ('control', 'sandbox', 'live')`,
  )
  const tenantTables = new Set([...rows.map(({ name }) => name), 'control.tenants'])
  const explain = async ({ role, statement }: Recorded): Promise<Plan | undefined> => {
    await client.query(`SET search_path = ${role === 'control' ? 'sandbox' : role}`)
    try {
      const answer = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }>(
        `EXPLAIN (GENERIC_PLAN, VERBOSE, COSTS OFF, FORMAT JSON) ${statement.text}`,
      )
      return answer.rows[0]?.['QUERY PLAN'][0]?.Plan
    } catch (error) {
      // What has no plan reaches no table.
      if (codeOf(error) === SYNTAX_ERROR && !/\bFROM\b|\bINTO\b|\bUPDATE\b/.test(statement.text))
        return undefined
      throw error
    }
  }
  return {
    accessesOf: async (recorded) => {
      const plan = await explain(recorded)
      return plan ? followed(findAccesses(plan, tenantTables)) : []
    },
    end: () => client.end(),
  }
}

const SYNTAX_ERROR = '42601'

interface Found extends Access {
  readonly alias: string
  /** Alias of the access whose tenant it takes. */
  readonly follows: string | undefined
}

/**
 * The tenant of another access is that access's parameter. New rows whose tenant is selected from a table are that table's
 * by themselves.
 */
function followed(found: readonly Found[]): Access[] {
  const parameterOf = ({ parameter, follows }: Found, left: number): number | undefined => {
    if (parameter !== undefined || follows === undefined || left === 0) return parameter
    const leader = found.find(({ alias }) => alias === follows)
    return leader && parameterOf(leader, left - 1)
  }
  return found.map((access) => ({
    table: access.table,
    node: access.node,
    parameter: parameterOf(access, found.length),
    own: access.node === 'Insert' ? parameterOf(access, found.length) : access.own,
  }))
}

/** Aliases of a table's partitions are numbered. */
const unnumbered = (alias: string): string => alias.replace(/_\d+$/, '')

function findAccesses(plan: Plan, tenantTables: ReadonlySet<string>): Found[] {
  const inner = (plan.Plans ?? []).flatMap((part) => findAccesses(part, tenantTables))
  const table = `${plan.Schema ?? ''}.${plan['Relation Name'] ?? ''}`
  if (!tenantTables.has(table)) return inner
  const node = plan.Operation ?? plan['Node Type']
  // Changes of rows that a scan below has found are checked there.
  if (node === 'Update' || node === 'Delete') return inner
  const text = node === 'Insert' ? insertedTenant(plan) : conditionsOf(plan, table)
  const match = /^\$(\d+)/.exec(text) ?? NAMED.exec(text)
  const parameter = match ? Number(match[1] ?? match[2]) : undefined
  const alias = unnumbered(String(plan.Alias ?? ''))
  const [, one, other] =
    node === 'Insert'
      ? [undefined, alias, unnumbered(/^(\w+)\.tenant_id$/.exec(text)?.[1] ?? '')]
      : (FOLLOWING.exec(text) ?? [])
  return [{ table, node, parameter, own: parameter, alias, follows: one === alias ? other : one }, ...inner]
}

function conditionsOf(plan: Plan, table: string): string {
  const text = CONDITIONS.map((name) => plan[name])
    .filter((condition) => typeof condition === 'string')
    .join(' AND ')
  // The tenants themselves are named by their own key.
  return table === 'control.tenants' ? text.replaceAll(/\bid\b(?=(?:\)::text)? = )/g, 'tenant_id') : text
}

/** What is put into the first column, which is `tenant_id` everywhere. What an Append puts out stands at its parts only. */
function insertedTenant({ Plans = [] }: Plan): string {
  const source = Plans.find((part) => ['Outer', 'Member'].includes(String(part['Parent Relationship'])))
  return source ? (source.Output?.[0] ?? insertedTenant(source)) : ''
}
