import { isDeepStrictEqual } from 'node:util'
import type { Detail } from 'dateline/runtime'
import type { CardholdersHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { readAddress } from '../tokens/identity.ts'
import { consumeToken } from '../tokens/use.ts'
import {
  type CardholderRow,
  insertCardholder,
  listCardholders,
  lockCardholder,
  readCardholder,
  updateCardholder,
} from './queries.ts'
import { requireGood, requireServed } from './rules.ts'
import { emitAlerts, type Screener, screen, writeAlerts } from './screening.ts'
import { openScreening } from './screening-queries.ts'
import { showCardholder } from './view.ts'

type Schemas = components['schemas']

export const cardholdersHandlers = {
  async createCardholder(context, { body }) {
    const { caller, db, events, request } = context
    const { now } = request
    const { type = 'individual', email = null, phone_number = null, metadata = {} } = body
    const { name, date_of_birth = null, billing_address } = await readIdentity(context, body, type)
    if (name === undefined)
      throw validationFailed([{ field: 'name', issue: 'is required unless token_id is given' }])
    const given: CardholderRow = {
      id: newId('chd', now),
      type,
      name,
      email,
      phone_number,
      date_of_birth,
      billing_address: billing_address ? readAddress(billing_address) : null,
      status: 'active',
      sanctions_status: 'clear',
      last_screened_at: null,
      list_version: null,
      list_number: 0,
      metadata,
      created: now,
      updated: now,
    }
    requireGood(given, now)
    requireServed(context, given)
    const screened = await screen(screenerOf(context), given)
    const isClear = screened.row.sanctions_status === 'clear'
    const row: CardholderRow = { ...screened.row, status: isClear ? 'active' : 'pending' }
    pipelined(insertCardholder(db, caller.space, row))
    pipelined(openScreening(db, caller.space, row.list_number))
    writeAlerts(screenerOf(context), screened)
    const shown = showCardholder(row)
    emit(events, { type: 'cardholder.created', data: { cardholder: shown } })
    return { status: 201, body: shown }
  },

  listCardholders: (context, { query }) => answerList(context, query, listCardholders, showCardholder),

  async getCardholder({ caller, db }, { path }) {
    const row = await readCardholder(db, caller.space, path.cardholder_id)
    if (!row) throw notFound()
    return { status: 200, body: showCardholder(row) }
  },

  async updateCardholder(context, { path, body }) {
    const { caller, db, events, request } = context
    const row = await lockCardholder(db, caller.space, path.cardholder_id)
    if (!row) throw notFound()
    requireChangeable(row, body)
    const patched = patch(row, { ...body, ...(await readIdentity(context, body, row.type)) }, request.now)
    requireGood(patched, request.now)
    requireServed(context, patched)
    const changed = needsScreening(context, row, patched) ? await rescreen(context, row, patched) : patched
    pipelined(updateCardholder(db, caller.space, changed))
    const shown = showCardholder(changed)
    const before = { cardholder: showCardholder(row) }
    emit(events, { type: 'cardholder.updated', data: { cardholder: shown }, before })
    return { status: 200, body: shown }
  },

  async screenCardholder(context, { path }) {
    const { caller, db } = context
    const row = await lockCardholder(db, caller.space, path.cardholder_id)
    if (!row) throw notFound()
    requireUnblocked(row)
    const screened = await rescreen(context, row, row)
    pipelined(updateCardholder(db, caller.space, screened))
    return { status: 200, body: showCardholder(screened) }
  },
} satisfies CardholdersHandlers<Context>

const screenerOf = ({ db, caller, sanctions, request }: Context): Screener => ({
  db,
  space: caller.space,
  list: sanctions.list(),
  now: request.now,
})

/**
 * Screens `row`, writes its alerts, and returns the cardholder to write.
 * @param before the stored cardholder.
 * @param row the cardholder with the requested changes.
 */
async function rescreen(context: Context, before: CardholderRow, row: CardholderRow): Promise<CardholderRow> {
  const screener = screenerOf(context)
  const screened = await screen(screener, row)
  writeAlerts(screener, screened)
  emitAlerts(context.events, before, screened.raised)
  return screened.row
}

/**
 * Returns whether the identity changes, or whether a cardholder that becomes active was skipped by the screening against a
 * newer list.
 */
function needsScreening({ sanctions }: Context, before: CardholderRow, after: CardholderRow): boolean {
  const identity = ({ name, date_of_birth, billing_address }: CardholderRow) => [
    name,
    date_of_birth,
    billing_address,
  ]
  const isBehind = after.list_number < sanctions.list().number
  return !isDeepStrictEqual(identity(before), identity(after)) || (after.status === 'active' && isBehind)
}

/** Identity fields of a request body, given directly or through a person token. */
type Identity<Birth> = {
  readonly name?: string
  readonly date_of_birth?: Birth
  readonly billing_address?: Schemas['AddressInput']
}

async function readIdentity<Birth>(
  context: Context,
  { token_id, ...body }: Identity<Birth> & { readonly token_id?: string },
  type: CardholderRow['type'],
): Promise<Identity<Birth | string>> {
  if (token_id === undefined) return body
  const { name, date_of_birth, billing_address } = body
  const twice = Object.entries({ name, date_of_birth, billing_address })
    .filter(([, given]) => given !== undefined)
    .map(([field]): Detail => ({ field, issue: 'cannot be combined with token_id' }))
  if (type === 'company') twice.push({ field: 'token_id', issue: 'is for individuals only' })
  if (twice.length > 0) throw validationFailed(twice)
  const person = await consumeToken(context, token_id, 'person')
  return { name: person.name, date_of_birth: person.date_of_birth, billing_address: person.address }
}

function requireUnblocked({ status }: CardholderRow): void {
  if (status === 'blocked') throw invalidState('The cardholder is blocked and cannot be changed.')
}

function requireChangeable(row: CardholderRow, { status }: Schemas['CardholderUpdate']): void {
  requireUnblocked(row)
  if (row.status === 'pending' && status !== undefined) {
    throw invalidState(
      'The status of a pending cardholder cannot be changed. It becomes active when its sanctions alerts are resolved.',
    )
  }
}

/** Applies a merge patch (RFC 7396), except that `billing_address` is replaced as a whole. */
function patch(row: CardholderRow, given: Schemas['CardholderUpdate'], now: number): CardholderRow {
  const { name, email, phone_number, date_of_birth, billing_address, status, metadata } = given
  return {
    ...row,
    name: name ?? row.name,
    email: email === undefined ? row.email : email,
    phone_number: phone_number === undefined ? row.phone_number : phone_number,
    date_of_birth: date_of_birth === undefined ? row.date_of_birth : date_of_birth,
    billing_address: billing_address ? readAddress(billing_address) : row.billing_address,
    status: status ?? row.status,
    metadata:
      metadata === null ? {} : (mergePatch(row.metadata, metadata ?? {}) as CardholderRow['metadata']),
    updated: now,
  }
}
