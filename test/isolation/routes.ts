/** The parts of statements that a coordinator of shards checks by their text. */

/** What stands behind each SET of an UPDATE or an ON CONFLICT: its assignments. */
export function changedExpressions(text: string): string[] {
  return [...text.matchAll(/\bSET /g)].map(({ index }) => assignmentsFrom(text.slice(index + 'SET '.length)))
}

/** Up to what ends them on the same level of brackets. */
function assignmentsFrom(text: string): string {
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth < 0) return text.slice(0, at)
    if (depth === 0 && /^ (FROM|WHERE|RETURNING) /.test(text.slice(at, at + 11))) return text.slice(0, at)
  }
  return text
}

/** Words of SQL that stand before brackets and are no functions of `pg_proc`. */
const NO_FUNCTIONS = new Set([
  'case',
  'when',
  'then',
  'else',
  'and',
  'or',
  'not',
  'in',
  'any',
  'array',
  'coalesce',
  'greatest',
  'least',
  'nullif',
  'set',
  'select',
  'values',
])

/** Names of the functions that an expression calls; the words that mean `now()` count as it, and intervals as their sum with a time. */
export function functionsIn(expression: string): string[] {
  const calls = expression.matchAll(
    /\b(current_timestamp|current_date|localtimestamp)\b|\b(interval) '|\b(\w+)\s*\(/gi,
  )
  return [...calls].flatMap(([, word, interval, name]) => {
    if (word !== undefined) return ['now']
    if (interval !== undefined) return ['timestamptz_pl_interval']
    const lower = name!.toLowerCase()
    return NO_FUNCTIONS.has(lower) ? [] : [lower]
  })
}

/** What Citus 13 does not send to one shard as it is, whatever names the tenant. */
const REFUSED = [
  [/(\(|\)) ?INSERT INTO /, 'a new row beside something else'],
  [/^INSERT INTO .* VALUES \(.*\( ?SELECT /, 'a look within a new row'],
  [/\bINSERT INTO \S+( AS \w+)? \([^)]*\) SELECT \$/, 'new rows whose tenant is of no table'],
  // Its shards are given the expressions in another order than the columns, up to 13.1 (citusdata/citus#7676).
  [/ SET \([^)]*\) = \(/, 'several columns set by one look'],
  // It replaces what is compared by NULL, seen in Citus 13.2.
  [/^(INSERT|UPDATE|DELETE) .*\bCASE (?!WHEN\b)/, 'a CASE with one operand for all branches'],
  [/^INSERT INTO \S+ \([^)]*\) SELECT .* RETURNING /, 'returned columns of a table without an alias'],
  [/^(?=.*\bcontrol\.)(?=.*\b(sandbox|live)\.)/, 'rows of the coordinator beside those of a shard'],
] as const

/** What it cannot do in several shards at once: a place is one in each of them, and none waits for the locks of all. */
const REFUSED_SPREAD = [
  [/\bctid\b/, 'places in several shards'],
  [/\bFOR (NO KEY )?(UPDATE|SHARE)\b/, 'locks in several shards'],
] as const

/**
 * Why Citus refuses a statement, or does it in several parts.
 *
 * @param spread whether it goes to several shards.
 */
export function refusals(text: string, spread: boolean): string[] {
  return (spread ? REFUSED_SPREAD : REFUSED).flatMap(([pattern, why]) => (pattern.test(text) ? [why] : []))
}
