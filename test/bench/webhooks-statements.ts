/** What the server of the bench spent its time on. */
import { type Bench, ms, print } from './webhooks-figures.ts'

interface StatementTimes {
  readonly text: string
  readonly calls: number
  readonly rows: number
  readonly total: number
  readonly mean: number
}

const DEAREST = `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 70) AS text, calls::float8, rows::float8,
    total_exec_time + total_plan_time AS total, (total_exec_time + total_plan_time) / calls AS mean
  FROM pg_stat_statements ORDER BY total DESC LIMIT 16`

/** Prints what the server spent on which statements since it was asked last. Needs `pg_stat_statements`. */
export async function printStatements({ admin }: Bench): Promise<void> {
  const { rows } = await admin.query<StatementTimes>(DEAREST)
  for (const { text, calls, rows: count, total, mean } of rows)
    print(
      `    ${ms(total).padStart(12)} = ${String(calls).padStart(6)} × ${ms(mean).padStart(9)}, ${String(count).padStart(6)} rows: ${text}`,
    )
  await admin.query('SELECT pg_stat_statements_reset()')
}
