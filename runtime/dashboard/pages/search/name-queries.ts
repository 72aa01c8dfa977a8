/** The search for records: by words of names, email addresses, and the content of recent records. */
import type { Database, Statement } from '../../../database/database.ts'

/** A search result. */
export interface NamedRow {
  readonly id: string
  /** The name, or the email address if the record has no name. */
  readonly name: string
  /** More about the record, such as its email address. Absent if there is nothing to add. */
  readonly about?: string
}

/** Maximum number of results per index. */
export const NAMED_LIMIT = 5

/** No stored name or email address is longer. */
const MAX_LENGTH = 254

interface SearchedColumns {
  readonly table: string
  readonly name: string
  readonly about: string
  /** The expression that must start with the text. Expression and condition match the indexes of migrations 0098 and 0125 exactly. */
  readonly begins: string
  readonly when?: string
}

/**
 * Returns the places of a name: the first word, the last word, and three words between them.
 *
 * @param column the name, if `name` is another expression.
 */
function placesOf({ table, name, about }: Omit<SearchedColumns, 'begins'>, column = name): SearchedColumns[] {
  const given = column === name ? {} : { when: `${column} IS NOT NULL` }
  const middle = [1, 2, 3].map((before) => {
    const rest = `substring(${column} FROM '^(?:\\S+\\s+){${before}}(\\S+\\s+\\S.*)$')`
    return { begins: `lower(${rest})`, when: `${rest} IS NOT NULL` }
  })
  return [
    { begins: `lower(${column})`, ...given },
    { begins: `lower(substring(${column} FROM '\\S+$'))`, ...given },
    ...middle,
  ].map((each) => ({ table, name, about, ...each }))
}

const byEmail = { begins: 'lower(email)', when: 'email IS NOT NULL' }
const byHolderEmail = { begins: 'lower(holder_email)', when: 'holder_email IS NOT NULL' }
const passes = { table: 'passes', name: 'coalesce(holder_name, holder_email)', about: 'holder_email' }
const cardholders = { table: 'cardholders', name: 'name', about: 'email' }

const PLACES: readonly SearchedColumns[] = [
  ...placesOf(passes, 'holder_name'),
  { ...passes, ...byHolderEmail },
  ...placesOf(cardholders),
  { ...cardholders, ...byEmail },
]

/** Writes a range scan in byte order, from the text to the last string that starts with it. */
function writePlace({ table, name, about, begins, when }: SearchedColumns): string {
  const key = `(${begins} COLLATE "C")`
  return `(SELECT id, ${name} AS name, ${about} AS about FROM ${table}
    WHERE tenant_id = $1 AND ${key} >= lower($2) AND ${key} < lower($2) || chr(1114111)${when ? ` AND ${when}` : ''}
    ORDER BY ${key} LIMIT ${NAMED_LIMIT})`
}

const CARDS = `(SELECT id, '•••• ' || last4 AS name,
    (SELECT h.name FROM cardholders h WHERE h.tenant_id = $1 AND h.id = cards.cardholder_id) AS about FROM cards
    WHERE tenant_id = $1 AND last4 = $2 ORDER BY id DESC LIMIT ${NAMED_LIMIT})`

// An unnamed statement, so that PostgreSQL plans it for the actual search text.
const FIND: Statement = { text: [...PLACES.map(writePlace), CARDS].join('\nUNION ALL\n') }

interface FoundRow {
  readonly id: string
  readonly name: string | null
  readonly about: string | null
}

/**
 * Finds people by a prefix of the email address or of one of the first four words or the last word of the name, and cards by
 * the last four digits. The search ignores case.
 *
 * @returns each record once. If one kind has `NAMED_LIMIT` results or more, further records may match.
 */
export async function findNamed(db: Database, tenantId: string, text: string): Promise<readonly NamedRow[]> {
  return isSearchable(text) ? readRows(db, FIND, [tenantId, text]) : []
}

/** Numbers of most recent records that a search reads. 10,000 passes take 15 ms, 1,000 records of the other kinds 2 ms each. */
const RECENT_PASSES = 10_000
const RECENT_OTHERS = 1000

// No index: with a GIN index of the values, 20,000 updates of 1 million passes take 9.4 s instead of 5.8 s.
const RECENT_VALUES = `(SELECT id, coalesce(holder_name, holder_email, id) AS name, key || ': ' || value AS about FROM (
    SELECT id, holder_name, holder_email, fields FROM passes
    WHERE tenant_id = $1 AND archived_at IS NULL ORDER BY created DESC, id DESC LIMIT ${RECENT_PASSES}
  ) AS recent CROSS JOIN LATERAL json_each_text(fields)
  WHERE strpos(lower(fields::text), lower($3)) > 0 AND lower(value) = lower($2) LIMIT ${NAMED_LIMIT})`

const writeRecent = (table: string, name: string, about = 'NULL') =>
  `(SELECT id, name, about FROM (
    SELECT id, ${name} AS name, ${about} AS about FROM ${table}
    WHERE tenant_id = $1 ORDER BY created DESC, id DESC LIMIT ${RECENT_OTHERS}
  ) AS recent WHERE strpos(lower(name), lower($2)) > 0 LIMIT ${NAMED_LIMIT})`

const FIND_RECENT: Statement = {
  name: 'dashboard_search_recent',
  text: [
    RECENT_VALUES,
    writeRecent('pass_templates', 'name'),
    writeRecent('card_programs', 'name'),
    writeRecent('payout_destinations', 'holder_name'),
    writeRecent(
      'card_transactions',
      `merchant ->> 'name'`,
      `to_char(created AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    ),
  ].join('\nUNION ALL\n'),
}

/**
 * Finds recent passes by a whole value of their fields, such as a member number, and recent templates, card programs, payout
 * destinations, and transactions by a part of the name, of the account holder's name, or of the merchant's name.
 */
export async function findRecent(db: Database, tenantId: string, text: string): Promise<readonly NamedRow[]> {
  // As the text is written within JSON.
  const quoted = JSON.stringify(text).slice(1, -1)
  return isSearchable(text) ? readRows(db, FIND_RECENT, [tenantId, text, quoted]) : []
}

function isSearchable(text: string): boolean {
  return text !== '' && text.length <= MAX_LENGTH && !text.includes('\0')
}

async function readRows(
  db: Database,
  statement: Statement,
  values: readonly string[],
): Promise<readonly NamedRow[]> {
  const { rows } = await db.query<FoundRow>(statement, values)
  const found = new Map<string, NamedRow>()
  for (const { id, name, about } of rows) {
    if (found.has(id)) continue
    found.set(id, { id, name: name ?? id, ...(about !== null && about !== name && { about }) })
  }
  return [...found.values()]
}
