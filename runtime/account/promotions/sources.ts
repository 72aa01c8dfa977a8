/** Types that can be promoted: how each is read, checked against the rules of live, and copied. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import type { Context, PrepareContext } from '../../api/handler.ts'
import { addCardProgram, checkDesign } from '../../cards/programs/handlers.ts'
import { readCardProgram } from '../../cards/programs/queries.ts'
import { checkControls } from '../../cards/programs/spending-controls.ts'
import type { Database } from '../../database/database.ts'
import { addEndpoint } from '../../events/webhook-endpoints/handlers.ts'
import { readEndpoint } from '../../events/webhook-endpoints/queries.ts'
import { addTemplate } from '../../passes/templates/handlers.ts'
import { readTemplate } from '../../passes/templates/queries.ts'
import { checkTemplate } from '../../passes/templates/rules.ts'

export type PromotableType = components['schemas']['PromotableType']

/** An object that can be promoted, or a copy of one. */
export interface Promotable {
  /** The members that a copy shares with its source. */
  readonly content: Readonly<Record<string, unknown>>
  check(context: PrepareContext): Promise<readonly Detail[]>
  /** Writes a copy. Returns its ID. */
  copy(context: Context): Promise<string>
}

type Read = (db: Database, space: string, id: string) => Promise<Promotable | undefined>

const readPassTemplate: Read = async (db, space, id) => {
  const row = await readTemplate(db, space, id)
  if (!row) return undefined
  const { kind, status, name, brand, fields, barcode, relevant_locations, metadata, options } = row
  const content = { name, brand, fields, barcode, relevant_locations, metadata, options }
  return {
    content: { kind, ...content, status },
    check: async () => [...requireStatus(status, 'active'), ...checkTemplate(content)],
    copy: async (context) => (await addTemplate(context, kind, content)).id,
  }
}

const readProgram: Read = async (db, space, id) => {
  const row = await readCardProgram(db, space, id)
  if (!row) return undefined
  const { name, kind, spending_controls, design, metadata } = row
  const content = { name, kind, spending_controls, design, metadata }
  return {
    content,
    check: async ({ isVerified }) => [
      ...(isVerified ? [] : [NOT_VERIFIED]),
      ...checkControls(spending_controls),
      ...checkDesign(design),
    ],
    copy: async (context) => (await addCardProgram(context, content)).id,
  }
}

const NOT_VERIFIED: Detail = {
  field: '',
  issue: 'cannot be created in live before your business is verified',
}

const readWebhookEndpoint: Read = async (db, space, id) => {
  const row = await readEndpoint(db, space, id)
  if (!row) return undefined
  const { url, description, enabled_events, metadata, status, ...rest } = row
  const { signature, delivery, fifo_key, retry_schedule, filters } = rest
  const choices = { signature, delivery, fifo_key, retry_schedule, filters }
  return {
    // The order of event types has no meaning, so sort them before comparing.
    content: { url, description, enabled_events: enabled_events.toSorted(), metadata, status, ...choices },
    check: async ({ destinations }) => {
      const issue = await destinations.check(url)
      return [...requireStatus(status, 'enabled'), ...(issue === undefined ? [] : [{ field: 'url', issue }])]
    },
    copy: async (context) =>
      (await addEndpoint(context, { url, description, enabled_events, metadata, ...choices })).row.id,
  }
}

/** Requires the status that new objects have, because a copy starts with it. */
function requireStatus(status: string, wanted: string): Detail[] {
  return status === wanted ? [] : [{ field: 'status', issue: `is ${status}, but must be ${wanted}` }]
}

/** Reads an object of a type, in the sandbox or in live. */
export const READERS: Readonly<Record<PromotableType, Read>> = {
  pass_template: readPassTemplate,
  card_program: readProgram,
  webhook_endpoint: readWebhookEndpoint,
}
