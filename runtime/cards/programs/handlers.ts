import type { Detail } from 'dateline/runtime'
import type { CardProgramsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import {
  type CardProgramRow,
  insertCardProgram,
  listCardPrograms,
  lockCardProgram,
  readCardProgram,
  updateCardProgram,
} from './queries.ts'
import { checkControls, patchControls, readControls } from './spending-controls.ts'

type Schemas = components['schemas']

export const cardProgramsHandlers = {
  async createCardProgram(context, { body }) {
    requireGood(checkControls(body.spending_controls))
    const row = await addCardProgram(context, {
      name: body.name,
      kind: body.kind,
      spending_controls: readControls(body.spending_controls ?? null),
      design: body.design ?? null,
      metadata: body.metadata ?? {},
    })
    return { status: 201, body: showCardProgram(row) }
  },

  listCardPrograms: (context, { query }) => answerList(context, query, listCardPrograms, showCardProgram),

  async getCardProgram({ caller, db }, { path }) {
    const row = await readCardProgram(db, caller.space, path.card_program_id)
    if (!row) throw notFound()
    return { status: 200, body: showCardProgram(row) }
  },

  async updateCardProgram({ caller, db, request }, { path, body }) {
    const row = await lockCardProgram(db, caller.space, path.card_program_id)
    if (!row) throw notFound()
    const { name, design, metadata } = row
    const { spending_controls, ...content } = body
    const merged = mergePatch({ name, design, metadata }, content)
    const changed: CardProgramRow = {
      ...row,
      design: null,
      metadata: {},
      ...(merged as Pick<CardProgramRow, 'name'>),
      spending_controls: patchControls(row.spending_controls, spending_controls),
      updated: request.now,
    }
    requireGood([
      ...checkControls(spending_controls),
      ...checkDesign(changed.design),
      ...checkMetadata(changed.metadata),
    ])
    await updateCardProgram(db, caller.space, changed)
    return { status: 200, body: showCardProgram(changed) }
  },
} satisfies CardProgramsHandlers<Context>

/** Writes a new card program. The caller has validated the content. */
export async function addCardProgram(
  { caller, db, request: { now } }: Context,
  content: Omit<CardProgramRow, 'id' | 'created' | 'updated'>,
): Promise<CardProgramRow> {
  const row = { ...content, id: newId('cprg', now), created: now, updated: now }
  await insertCardProgram(db, caller.space, row)
  return row
}

function requireGood(faults: readonly Detail[]): void {
  if (faults.length > 0) throw validationFailed(faults)
}

/** Checks that a design has both colors. A patch can leave one out if the program has no design yet. */
export function checkDesign(design: Partial<Schemas['CardDesignInput']> | null): Detail[] {
  if (!design) return []
  return (['background_color', 'foreground_color'] as const).flatMap((name) =>
    design[name] === undefined
      ? [{ field: `design.${name}`, issue: 'is required because the program has no design yet' }]
      : [],
  )
}

function showCardProgram(row: CardProgramRow): Schemas['CardProgram'] {
  const { id, name, kind, design, metadata } = row
  return {
    id,
    object: 'card_program',
    name,
    kind,
    spending_controls: row.spending_controls,
    design: design && { ...design, text: design.text ?? null },
    metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
