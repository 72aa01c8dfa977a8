import type { MigrationFile } from '../../runtime/database/migrate/migration-files.ts'

/** Everything that the old version, still serving, would notice: what it looks like, and what is wrong with it. */
const BREAKING: readonly (readonly [RegExp, string])[] = [
  [/\bDROP\s+(COLUMN|TABLE|SCHEMA|VIEW|CONSTRAINT)\b/i, 'drops what the old version uses'],
  [/\bRENAME\b/i, 'renames what the old version uses'],
  [/\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b/i, 'rewrites the table under a lock'],
  [/\bSET\s+NOT\s+NULL\b/i, 'refuses rows that the old version writes'],
]

const COSTLY: readonly (readonly [RegExp, string])[] = [
  [
    /\bADD\s+COLUMN\b(?=[^,;]*\bNOT\s+NULL\b)(?![^,;]*\bDEFAULT\b)/i,
    'adds a column that the old version does not fill',
  ],
  [
    /\bADD\s+COLUMN\b[^,;]*(\bDEFAULT\s+[^,;]*(\w\s*\(|\bcurrent_)|\bGENERATED\b|\b(small|big)?serial\b)/i,
    'adds a column whose value is computed for each row, under a lock',
  ],
  [
    /\bADD\s+(CONSTRAINT\s+\w+\s+)?(CHECK|FOREIGN\s+KEY)\b(?![^;]*\bNOT\s+VALID\b)/i,
    'checks every row under a lock: add it NOT VALID, validate it in a later file',
  ],
  [/\b(UPDATE\s+\w+\s+SET|DELETE\s+FROM|TRUNCATE)\b/i, 'changes rows: a worker does that in bounded steps'],
  [/\bADD\s+(CONSTRAINT\s+\w+\s+)?(UNIQUE|PRIMARY\s+KEY)\s*\(/i, 'builds an index under a lock'],
]

/** Also wrong: what a database cannot do whose tables are distributed already. */
const REFUSED_BY_CITUS: readonly (readonly [RegExp, string])[] = [
  [/\bALTER\s+COLUMN\s+\w+\s+SET\s*\(/i, 'sets what Citus sets on no table once it is distributed'],
]

/** From before there was a distributed database. */
const BEFORE_CITUS = ['0012_statistics']

const CREATED = /\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:\w+\.)?(\w+)/gi
const INDEXED = /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+\w+\s+ON\s+(?:ONLY\s+)?(?:\w+\.)?(\w+)/i
const CHANGED = /^\s*(?:ALTER\s+TABLE|UPDATE|DELETE\s+FROM|TRUNCATE)\s+(?:ONLY\s+)?(?:\w+\.)?(\w+)/i
const CONTRACT = /^-- contract: (\w+)$/m

/** What is wrong with a file for nodes that serve while it runs. @param files all of them. */
export function faultsOf(
  file: Pick<MigrationFile, 'name' | 'text' | 'each' | 'indexes'>,
  files: readonly Pick<MigrationFile, 'name'>[],
): string[] {
  if (file.indexes) return []
  const contracts = CONTRACT.exec(file.text)?.[1]
  const faults: string[] = []
  if (contracts !== undefined && !files.some(({ name }) => name === contracts && name < file.name)) {
    faults.push(`contracts ${contracts}, which is no file before it`)
  }
  const sql = file.text.replaceAll(/--.*/g, '')
  const own = new Set([...sql.matchAll(CREATED)].map(([, table = '']) => table.toLowerCase()))
  for (const statement of sql.split(';')) {
    const changed = CHANGED.exec(statement)?.[1]?.toLowerCase()
    if (changed !== undefined && own.has(changed)) continue
    const indexed = INDEXED.exec(statement)?.[1]?.toLowerCase()
    // Tables of `control` have a few rows for each tenant, not millions.
    if (file.each && indexed !== undefined && !own.has(indexed)) {
      faults.push(`indexes ${indexed} under a lock: put it into a concurrently file`)
    }
    const rules = [
      ...(contracts === undefined ? [...BREAKING, ...COSTLY] : COSTLY),
      ...(BEFORE_CITUS.includes(file.name) ? [] : REFUSED_BY_CITUS),
    ]
    faults.push(...rules.filter(([pattern]) => pattern.test(statement)).map(([, fault]) => fault))
  }
  return faults
}
