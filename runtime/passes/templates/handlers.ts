import { isDeepStrictEqual } from 'node:util'
import type { PassTemplatesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { floorToSecond, writeInstant } from '../../platform/instants.ts'
import { OPTION_NAMES, type PassOptions } from '../wallets/render/pass-state.ts'
import { mergeFields } from './fields.ts'
import {
  type Brand,
  insertTemplate,
  listTemplates,
  lockTemplate,
  readTemplate,
  type TemplateContent,
  type TemplateRow,
  updateTemplate,
} from './queries.ts'
import { checkTemplate } from './rules.ts'
import { resendTemplate, tellWalletsOfTemplate } from './wallet-queue.ts'
import { warningsOf } from './warnings.ts'

type PassTemplate = components['schemas']['PassTemplate']

export const passTemplatesHandlers = {
  async createPassTemplate(context, { body }) {
    const { kind, name, brand, barcode, relevant_locations = [], metadata = {} } = body
    const fields = mergeFields([], body.fields ?? [])
    const options = readOptions(body)
    requireEntitlement(context, body)
    requireGood(checkTemplate({ fields, brand, barcode, metadata, options }))
    const content = {
      name,
      brand,
      fields,
      barcode: barcode ?? DEFAULT_BARCODE,
      relevant_locations,
      metadata,
      options,
    }
    return { status: 201, body: await addTemplate(context, kind, content) }
  },

  listPassTemplates: (context, { query }) => answerList(context, query, listTemplates, showTemplate),

  async getPassTemplate({ caller, db }, { path }) {
    const row = await readTemplate(db, caller.space, path.template_id)
    if (!row) throw notFound()
    return { status: 200, body: showTemplate(row) }
  },

  async updatePassTemplate(context, { path, body }) {
    const { caller, db, events } = context
    const { now } = context.request
    const row = await lockTemplate(db, caller.space, path.template_id)
    if (!row) throw notFound()
    requireEntitlement(context, body)
    const changed: TemplateRow = {
      ...row,
      ...patchContent(row, body),
      updated: now,
      changed: Math.max(floorToSecond(now), row.changed + 1000),
      revision: row.revision + 1,
    }
    requireGood(checkTemplate(changed))
    await updateTemplate(db, caller.space, changed)
    pipelined(tellWalletsOfTemplate(db, caller.space, row.id, context.request.machineNow))
    const shown = showTemplate(changed)
    const before = { pass_template: showTemplate(row) }
    const told = emit(events, { type: 'pass_template.updated', data: { pass_template: shown }, before })
    if (!told && !isDeepStrictEqual(untold(row), untold(changed)))
      pipelined(resendTemplate(db, caller.space, row.id))
    return { status: 200, body: shown }
  },

  async archivePassTemplate(context, { path }) {
    const { caller, db, events } = context
    const { now } = context.request
    const row = await lockTemplate(db, caller.space, path.template_id)
    if (!row) throw notFound()
    if (row.status === 'archived') throw invalidState('The template is archived already.')
    const archived: TemplateRow = { ...row, status: 'archived', updated: now }
    await updateTemplate(db, caller.space, archived)
    const shown = showTemplate(archived)
    emit(events, { type: 'pass_template.archived', data: { pass_template: shown } })
    return { status: 200, body: shown }
  },
} satisfies PassTemplatesHandlers<Context>

/** Inserts a template whose content is already validated, and emits `pass_template.created`. */
export async function addTemplate(
  { caller, db, events, request: { now } }: Context,
  kind: TemplateRow['kind'],
  content: TemplateContent,
): Promise<PassTemplate> {
  const row: TemplateRow = {
    id: newId('tpl', now),
    ...content,
    kind,
    status: 'active',
    created: now,
    updated: now,
    changed: floorToSecond(now),
    revision: 0,
  }
  await insertTemplate(db, caller.space, row)
  const shown = showTemplate(row)
  emit(events, { type: 'pass_template.created', data: { pass_template: shown } })
  return shown
}

const DEFAULT_BARCODE = { format: 'qr' } as const

/** Apple permits NFC passes only for pass types with an entitlement. */
function requireEntitlement({ passNfc }: Context, body: { readonly nfc?: unknown }): void {
  if (!body.nfc || passNfc) return
  const issue = 'needs an entitlement of Apple: ask the operator of this service to set APPLE_PASS_NFC'
  throw validationFailed([{ field: 'nfc', issue }])
}

function requireGood(faults: ReturnType<typeof checkTemplate>): void {
  if (faults.length > 0) throw validationFailed(faults)
}

/** Applies a merge patch (RFC 7396). Null resets a member to its default, if it has one. */
function patchContent(row: TemplateRow, patch: components['schemas']['PassTemplateUpdate']): TemplateContent {
  const { name, brand, fields, barcode, relevant_locations, metadata, options } = row
  const given = { name, brand, fields, barcode, relevant_locations, metadata, ...options }
  const merged = mergePatch(given, patch) as Partial<TemplateContent>
  return {
    barcode: DEFAULT_BARCODE,
    relevant_locations: [],
    metadata: {},
    ...(merged as Pick<TemplateContent, 'name' | 'brand'>),
    fields: patch.fields ? mergeFields(fields, patch.fields) : fields,
    options: readOptions(merged),
  }
}

/** Returns the content that older versions do not show. */
function untold({ fields, relevant_locations, options }: TemplateRow): unknown {
  return { fields, relevant_locations, options }
}

/** Returns the optional content that a body has, without members that are null. */
function readOptions(body: object): PassOptions {
  const given = Object.entries(body).filter(([name]) => OPTION_NAMES.some((each) => each === name))
  return mergePatch({}, Object.fromEntries(given)) as PassOptions
}

function showTemplate(row: TemplateRow): PassTemplate {
  const warnings = warningsOf({ ...row, locations: row.relevant_locations })
  return {
    id: row.id,
    object: 'pass_template',
    name: row.name,
    kind: row.kind,
    status: row.status,
    brand: showBrand(row.brand),
    fields: row.fields.map((field) => ({ ...field })),
    barcode: { format: row.barcode.format, message: row.barcode.message ?? null },
    relevant_locations: row.relevant_locations.map(({ altitude, relevant_text, ...rest }) => ({
      ...rest,
      altitude: altitude ?? null,
      relevant_text: relevant_text ?? null,
    })),
    metadata: row.metadata,
    ...row.options,
    ...(warnings.length > 0 && { warnings }),
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

function showBrand(brand: Brand): PassTemplate['brand'] {
  return {
    background_color: brand.background_color,
    foreground_color: brand.foreground_color,
    label_color: brand.label_color ?? null,
    logo_text: brand.logo_text ?? null,
    icon: brand.icon ?? null,
    logo: brand.logo ?? null,
    strip: brand.strip ?? null,
  }
}
