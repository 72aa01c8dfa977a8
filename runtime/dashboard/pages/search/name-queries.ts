/** What a tenant has of some name, by how the name begins: each kind is a short walk along an index of its own. */
import type { Database, Statement } from '../../../database/database.ts'

/** Something that a search found. */
export interface NamedRow {
  readonly id: string
  /** Its name; the e-mail address where it has none. */
  readonly name: string
  /** Absent: it has none, or none beside the name. */
  readonly email?: string
}

/** Results of each index, at most. */
export const NAMED_LIMIT = 5

/** Longer than any name or e-mail address that is kept. */
const MAX_LENGTH = 254

interface SearchedColumns {
  readonly table: string
  readonly name: string
  readonly email: string
  /** What begins with the text: with its condition as 0098 indexes it, letter for letter. */
  readonly begins: string
  readonly when?: string
}

/** The whole name comes before its last word, and that before the e-mail address. */
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

/** From the text to the last text that begins with it, in the order of bytes. */
function writePlace({ table, name, email, begins, when }: SearchedColumns): string {
  const key = `(${begins} COLLATE "C")`
  return `(SELECT id, ${name} AS name, ${email} AS email FROM ${table}
    WHERE tenant_id = $1 AND ${key} >= lower($2) AND ${key} < lower($2) || chr(1114111)${when ? ` AND ${when}` : ''}
    ORDER BY ${key} LIMIT ${NAMED_LIMIT})`
}

// Without a name: it is planned for the text that it looks for.
const FIND: Statement = { text: PLACES.map(writePlace).join('\nUNION ALL\n') }

/**
 * Finds pass templates and card programs by the beginning of their names, cardholders and passes by that of the name, of its
 * last word or of the e-mail address. Upper and lower case are the same.
 *
 * @returns each once: `NAMED_LIMIT` or more of one kind where there may be others.
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
