import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'
import type { SpendingControls } from './spending-controls.ts'

type Schemas = components['schemas']

/** A card program as stored. Times are milliseconds since the epoch. */
export interface CardProgramRow {
  readonly id: string
  readonly name: string
  readonly kind: Schemas['CardProgramKind']
  /** Spending controls of cards that are issued without their own. */
  readonly spending_controls: SpendingControls
  readonly design: Schemas['CardDesignInput'] | null
  readonly metadata: Readonly<Record<string, string>>
  readonly created: number
  readonly updated: number
}

const COLUMNS = 'id, name, kind, spending_controls, design, metadata, created, updated'

const INSERT: Statement = {
  name: 'card_programs_insert',
  text: `INSERT INTO card_programs (tenant_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

export function insertCardProgram(db: Database, tenantId: string, row: CardProgramRow): Promise<unknown> {
  const { id, name, kind, created, updated } = row
  const values = [tenantId, id, name, kind, ...contentOf(row), toTimestamp(created), toTimestamp(updated)]
  return db.query(INSERT, values)
}

function contentOf({ spending_controls, design, metadata }: CardProgramRow): unknown[] {
  return [JSON.stringify(spending_controls), design && JSON.stringify(design), JSON.stringify(metadata)]
}

const READ: Statement = {
  name: 'card_programs_read',
  text: `SELECT ${COLUMNS} FROM card_programs WHERE tenant_id = $1 AND id = $2`,
}

export async function readCardProgram(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardProgramRow | undefined> {
  return (await db.query<CardProgramRow>(READ, [tenantId, id])).rows[0]
}

const LOCK: Statement = { name: 'card_programs_lock', text: `${READ.text} FOR UPDATE` }

/** Returns a card program and locks it until the transaction ends. */
export async function lockCardProgram(
  db: Database,
  tenantId: string,
  id: string,
): Promise<CardProgramRow | undefined> {
  return (await db.query<CardProgramRow>(LOCK, [tenantId, id])).rows[0]
}

const UPDATE: Statement = {
  name: 'card_programs_update',
  text: `UPDATE card_programs SET name = $3, spending_controls = $4, design = $5, metadata = $6, updated = $7
         WHERE tenant_id = $1 AND id = $2`,
}

export function updateCardProgram(db: Database, tenantId: string, row: CardProgramRow): Promise<unknown> {
  return db.query(UPDATE, [tenantId, row.id, row.name, ...contentOf(row), toTimestamp(row.updated)])
}

export const listCardPrograms = defineList<CardProgramRow, 'listCardPrograms'>({
  operation: 'listCardPrograms',
  table: 'card_programs',
  alias: 'p',
  columns: COLUMNS,
  filters: {},
  indexes: [[]],
})
