/** Prefix search over names and email addresses. Each kind of record uses its own index. */
import type { Database, Statement } from '../../../database/database.ts'

/** A search result. */
export interface NamedRow {
  readonly id: string
  /** The name, or the email address if the record has no name. */
  readonly name: string
  /** Absent if the record has no email address or `name` already contains it. */
  readonly email?: string
}

/** Maximum number of results per index. */
export const NAMED_LIMIT = 5

/** No stored name or email address is longer. */
const MAX_LENGTH = 254

interface SearchedColumns {
  readonly table: string
  readonly name: string
  readonly email: string
  /** The expression that must start with the text. Expression and condition match the indexes of migration 0098 exactly. */
  readonly begins: string
  readonly when?: string
}

/** Searches the full name first, then its last word, and then the email address. */
function placesOf(table: string, name: string, email: string, isOptional: boolean): SearchedColumns[] {
  const shown = { table, name: isOptional ? `coalesce(${name}, ${email})` : name, email }
  const given = (column: string) => ({ when: `${column} IS NOT NULL` })
  return [
    { ...shown, begins: `lower(${name})`, ...(isOptional && given(name)) },
    { ...shown, begins: `lower(substring(${name} FROM '\\S+$'))`, ...(isOptional && given(name)) },
    { ...shown, begins: `lower(${email})`, ...given(email) },
  ]
}

const PLACES: readonly SearchedColumns[] = [
  { table: 'pass_templates', name: 'name', email: 'NULL', begins: 'lower(name)' },
  ...placesOf('passes', 'holder_name', 'holder_email', true),
  ...placesOf('cardholders', 'name', 'email', false),
  { table: 'card_programs', name: 'name', email: 'NULL', begins: 'lower(name)' },
]

/** Writes a range scan in byte order, from the text to the last string that starts with it. */
function writePlace({ table, name, email, begins, when }: SearchedColumns): string {
  const key = `(${begins} COLLATE "C")`
  return `(SELECT id, ${name} AS name, ${email} AS email FROM ${table}
    WHERE tenant_id = $1 AND ${key} >= lower($2) AND ${key} < lower($2) || chr(1114111)${when ? ` AND ${when}` : ''}
    ORDER BY ${key} LIMIT ${NAMED_LIMIT})`
}

// An unnamed statement, so that PostgreSQL plans it for the actual search text.
const FIND: Statement = { text: PLACES.map(writePlace).join('\nUNION ALL\n') }

/**
 * Finds pass templates and card programs by name prefix, and cardholders and passes by a prefix of the name, of its
 * last word, or of the email address. The search ignores case.
 *
 * @returns each record once. If one kind has `NAMED_LIMIT` results or more, further records may match.
 */
export async function findNamed(db: Database, tenantId: string, text: string): Promise<readonly NamedRow[]> {
  if (text === '' || text.length > MAX_LENGTH || text.includes('\0')) return []
  const { rows } = await db.query<{ id: string; name: string; email: string | null }>(FIND, [tenantId, text])
  const found = new Map<string, NamedRow>()
  for (const { id, name, email } of rows) {
    if (found.has(id)) continue
    found.set(id, { id, name, ...(email !== null && email !== name && { email }) })
  }
  return [...found.values()]
}
