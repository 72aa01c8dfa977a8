/** What statements read, by PostgreSQL's own count, under the plans that it may choose. */

import type { Database } from '../../runtime/database/database.ts'
import { pipelined } from '../../runtime/database/pipelined.ts'
import { plainText, type Recorded } from './recorder.ts'

/** One execution of a statement. */
export interface Reading {
  readonly text: string
  readonly role: Recorded['role']
  readonly mode: 'generic' | 'custom'
  readonly values: readonly unknown[]
  /** Rows that scans of tables and indexes looked at. */
  readonly read: number
  /** Rows that were given or written. */
  readonly answered: number
  /** Pages of 8 KiB. */
  readonly buffers: number
  /** Its scans, for people. */
  readonly scans: readonly string[]
}

interface Node {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly 'Parent Relationship'?: string
  readonly Plans?: readonly Node[]
}

export type Explained = { readonly 'QUERY PLAN': readonly [{ readonly Plan: Node }] }

export const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

// The catalogue is none of ours.
const isScan = (node: Node) =>
  /Scan$/.test(node['Node Type']) && /^(?!pg_)/.test(node['Relation Name'] ?? 'pg_')

/** Rows that reach a node that changes a table; those of a plan that changes nothing: what it gives. */
function answeredBy(plan: Node): number {
  const changes = nodesOf(plan).filter((node) => node['Node Type'] === 'ModifyTable')
  const written = changes.flatMap(({ Plans = [] }) =>
    Plans.filter((part) => part['Parent Relationship'] === 'Outer').map((part) => part['Actual Rows']),
  )
  return Math.max(plan['Actual Rows'], ...written)
}

/** Rows that a scan looked at. */
export function readBy(node: Node): number {
  const { 'Actual Rows': given, 'Actual Loops': loops } = node
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
  return (given + removed) * loops
}

/** The value as SQL writes it. */
export function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  const text = Buffer.isBuffer(value)
    ? `\\x${value.toString('hex')}`
    : Array.isArray(value)
      ? `{${value.map((each) => (each === null ? 'NULL' : JSON.stringify(String(each)))).join(',')}}`
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

let prepared = 0

/**
 * Executes the statement in the transaction and takes back what it did. Sends everything at once, so that whoever sends
 * behind it comes behind it; resolves with undefined where the statement fails.
 */
export async function examine(
  tx: Database,
  recorded: Recorded,
  mode: Reading['mode'],
): Promise<Reading | undefined> {
  const name = `examined_${++prepared}`
  const { statement, values } = recorded
  const words = values.length > 0 ? `(${values.map(literal).join(', ')})` : ''
  const before = [
    'SAVEPOINT examination',
    `SET LOCAL plan_cache_mode = force_${mode}_plan`,
    `PREPARE ${name} AS ${statement.text}`,
  ]
  for (const text of before) tx.query({ text }).catch(() => {})
  const explained = tx.query<Explained>({
    text: `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE ${name}${words}`,
  })
  for (const text of ['ROLLBACK TO examination', 'RELEASE examination']) pipelined(tx.query({ text }))
  try {
    const plan = (await explained).rows[0]!['QUERY PLAN'][0].Plan
    const scans = nodesOf(plan).filter(isScan)
    return {
      text: plainText(recorded),
      role: recorded.role,
      mode,
      values,
      read: scans.reduce((sum, node) => sum + readBy(node), 0),
      answered: answeredBy(plan),
      buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0),
      scans: scans.map(
        (node) =>
          `${node['Node Type']} ${node['Index Name'] ?? node['Relation Name']}: ${readBy(node).toFixed(0)}`,
      ),
    }
  } catch {
    return undefined // what has no plan, or finds that somebody was quicker
  }
}
