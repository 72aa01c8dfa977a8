/**
 * How a migration is sent to Citus, which refuses parts of what PostgreSQL accepts for a distributed table: it sends the text of the
 * client to each shard, so the text must be one command, and it adds no column together with its check.
 */

/** A statement of a file, and the line on which it starts. */
export interface FileStatement {
  readonly text: string
  readonly line: number
}

/** Comments, literals and dollar-quoted texts, in which a semicolon ends nothing; or a semicolon. */
const TOKENS = /(?<comment>--[^\n]*)|'(?:[^']|'')*'|(?<quote>\$\w*\$)[\s\S]*?\k<quote>|(?<end>;)/g

const ADDS_COLUMN = /^ALTER\s+TABLE\s+(?<table>\w+)\s+ADD\s+COLUMN\s/i

/** A column with its check, whose brackets are nested once at most. */
const CHECKED = /\bADD\s+COLUMN\s+(?<column>\w+)\s[^,]*?(?<check>\bCHECK\s*\((?:[^()]|\([^()]*\))*\))/gi

/** Splits a file into statements that Citus accepts, without comments. */
export function splitForCitus(file: string): readonly FileStatement[] {
  // Keeps the lines.
  const text = file.replaceAll(TOKENS, (token) => (token.startsWith('--') ? '' : token))
  const statements: FileStatement[] = []
  let start = 0
  for (const end of [...findEnds(text), text.length]) {
    const whole = text.slice(start, end)
    const line = text.slice(0, start + whole.search(/\S|$/)).split('\n').length
    if (whole.trim() !== '')
      statements.push(...takeChecksOut(whole.trim()).map((each) => ({ text: each, line })))
    start = end + 1
  }
  return statements
}

function findEnds(text: string): readonly number[] {
  return [...text.matchAll(TOKENS)].flatMap(({ index, groups }) => (groups?.end === undefined ? [] : [index]))
}

/** Adds checks of new columns on their own, with the names that PostgreSQL gives them. */
function takeChecksOut(statement: string): readonly string[] {
  const table = ADDS_COLUMN.exec(statement)?.groups?.table
  if (table === undefined) return [statement]
  const checks: string[] = []
  const columns = statement.replaceAll(CHECKED, (added: string, column: string, check: string) => {
    checks.push(`ALTER TABLE ${table} ADD CONSTRAINT ${table}_${column}_check ${check}`)
    return added.replace(check, '').trimEnd()
  })
  return [columns, ...checks]
}
