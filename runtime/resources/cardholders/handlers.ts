import type { Detail } from 'dateline/runtime'
import type { CardholdersHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { readCreated, readPage, showList } from '../../api/lists/list-query.ts'
import { emit } from '../../events/emit.ts'
import { newId } from '../../platform/ids.ts'
import { checkAddress, checkBirth, checkText, readAddress } from '../tokens/identity.ts'
import { consumeToken } from '../tokens/use.ts'
import {
  type CardholderRow,
  insertCardholder,
  listCardholders,
  lockCardholder,
  readCardholder,
  updateCardholder,
} from './queries.ts'
import { showCardholder } from './view.ts'

type Schemas = components['schemas']

export const cardholdersHandlers = {
  async createCardholder(context, { body }) {
    const { caller, db, events, request } = context
    const { now } = request
    const { type = 'individual', email = null, phone_number = null, metadata = {} } = body
    const { name, date_of_birth = null, billing_address } = await readIdentity(context, body, type)
    if (name === undefined) throw validationFailed([{ field: 'name', issue: 'is needed without token_id' }])
    const row: CardholderRow = {
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
    requireGood(row, now)
    await insertCardholder(db, caller.space, row)
    const shown = showCardholder(row)
    emit(events, { type: 'cardholder.created', data: { cardholder: shown } })
    return { status: 201, body: shown }
  },

  async listCardholders({ caller, db, cursors }, { query }) {
    const page = readPage(query, cursors)
    const filter = {
      created: readCreated(query),
      ...(query.status && { statuses: query.status }),
      ...(query.type && { types: query.type }),
    }
    const records = await listCardholders(db, caller.space, filter, page)
    return { status: 200, body: showList(records, page, cursors, showCardholder) }
  },

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
    const changed = patch(row, { ...body, ...(await readIdentity(context, body, row.type)) }, request.now)
    requireGood(changed, request.now)
    await updateCardholder(db, caller.space, changed)
    const shown = showCardholder(changed)
    const before = { cardholder: showCardholder(row) }
    emit(events, { type: 'cardholder.updated', data: { cardholder: shown }, before })
    return { status: 200, body: shown }
  },
} satisfies Partial<CardholdersHandlers<Context>>

/** Who a cardholder is, as a body says it itself or by the token of a person. */
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
    .map(([field]): Detail => ({ field, issue: 'is not taken beside token_id' }))
  if (type === 'company') twice.push({ field: 'token_id', issue: 'is for individuals only' })
  if (twice.length > 0) throw validationFailed(twice)
  const person = await consumeToken(context, token_id, 'person')
  return { name: person.name, date_of_birth: person.date_of_birth, billing_address: person.address }
}

/** What the schema cannot say of a cardholder. */
function requireGood(row: CardholderRow, now: number): void {
  const { type, name, date_of_birth, billing_address, metadata } = row
  const field = 'date_of_birth'
  const faults = [...checkText('name', name), ...checkMetadata(metadata)]
  if (billing_address) faults.push(...checkAddress('billing_address', billing_address))
  if (date_of_birth !== null) {
    if (type === 'company') faults.push({ field, issue: 'is for individuals only' })
    else faults.push(...checkBirth(field, date_of_birth, now))
  }
  if (faults.length > 0) throw validationFailed(faults)
}

function requireChangeable(row: CardholderRow, { status }: Schemas['CardholderUpdate']): void {
  if (row.status === 'blocked') throw invalidState('A blocked cardholder cannot be changed.')
  if (row.status === 'pending' && status !== undefined) {
    throw invalidState('A pending cardholder becomes active when its sanctions alerts are resolved.')
  }
}

/** Applies a merge patch (RFC 7396), but for addresses, which are replaced as a whole. */
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
