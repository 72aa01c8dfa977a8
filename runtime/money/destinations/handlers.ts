import type { Detail } from 'dateline/runtime'
import type { PayoutDestinationsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { forbidden, notFound, validationFailed } from '../../api/errors/errors.ts'
import { type Context, type PrepareContext, prepared } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { checkText } from '../../cards/tokens/identity.ts'
import { consumeToken } from '../../cards/tokens/use.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { readClockOffset } from '../settlement-lines/clock.ts'
import { sealAccount } from './account.ts'
import { checkAccount } from './address.ts'
import {
  claimDefault,
  type DestinationRow,
  insertDestination,
  listDestinations,
  lockDestination,
  readDestination,
  removeDefault,
  setDefault,
  updateDestination,
} from './queries.ts'
import { isListed } from './screening.ts'
import { deny, disable, HOLD_MS, requireOpen } from './states.ts'
import { showDestination } from './view.ts'

type Schemas = components['schemas']

const shown = (row: DestinationRow) => ({ status: 200 as const, body: showDestination(row) })

export const payoutDestinationsHandlers = {
  createPayoutDestination: prepared(requireGoodInput, async (context: Context, { body }) => {
    const { caller, db, events } = context
    const { row: given, account, otherNames } = await readDestinationInput(context, body)
    const isDenied = isListed(context.sanctions.list(), given, otherNames)
    const judged = isDenied ? deny(given, given.created) : given
    await insertDestination(db, caller.space, judged, account)
    const row = isDenied
      ? judged
      : { ...judged, is_default: await placeDefault(context, judged, body.default) }
    const created = { ...given, is_default: row.is_default }
    emit(events, {
      type: 'payout_destination.created',
      data: { payout_destination: showDestination(created) },
    })
    if (isDenied) {
      emit(events, { type: 'payout_destination.denied', data: { payout_destination: showDestination(row) } })
    }
    return { status: 201 as const, body: showDestination(row) }
  }),

  listPayoutDestinations: (context, { query }) =>
    answerList(context, query, listDestinations, showDestination),

  async getPayoutDestination({ caller, db }, { path }) {
    const row = await readDestination(db, caller.space, path.payout_destination_id)
    if (!row) throw notFound()
    return shown(row)
  },

  async updatePayoutDestination({ caller, db, request }, { path, body }) {
    const row = await lockDestination(db, caller.space, path.payout_destination_id)
    if (!row) throw notFound()
    const metadata = (
      body.metadata === null ? {} : mergePatch(row.metadata, body.metadata ?? {})
    ) as DestinationRow['metadata']
    requireGood(checkMetadata(metadata))
    if (body.default) {
      requireOpen(row)
      pipelined(setDefault(db, caller.space, row.id))
    } else if (body.default === false) pipelined(removeDefault(db, caller.space, row.id))
    const after = { ...row, metadata, is_default: body.default ?? row.is_default, updated: request.now }
    pipelined(updateDestination(db, caller.space, after))
    return shown(after)
  },

  async disablePayoutDestination({ caller, db, events, request }, { path }) {
    const row = await lockDestination(db, caller.space, path.payout_destination_id)
    if (!row) throw notFound()
    const after = disable(row, request.now)
    pipelined(updateDestination(db, caller.space, after))
    pipelined(removeDefault(db, caller.space, row.id))
    emit(events, {
      type: 'payout_destination.disabled',
      data: { payout_destination: showDestination(after) },
    })
    return shown(after)
  },
} satisfies PayoutDestinationsHandlers<Context>

/** A destination from the request, before screening. */
interface Given {
  readonly row: DestinationRow
  /** The sealed bank account; null for blockchain addresses. */
  readonly account: Buffer | null
  /** Other names of the holder that the request contains. */
  readonly otherNames: readonly string[]
}

/**
 * Validates the request. Throws `validation_failed` with the invalid fields, and `live_only` for bank accounts in the
 * sandbox.
 */
async function requireGoodInput(
  { caller, usdcChain }: PrepareContext,
  { body }: { readonly body: Schemas['PayoutDestinationCreate'] },
): Promise<void> {
  if (body.type === 'bank_account' && caller.environment === 'sandbox') {
    throw forbidden(
      'live_only',
      'Bank accounts are available only in live. In the sandbox, add a `usdc_address`.',
    )
  }
  requireGood([
    ...checkText('holder_name', body.holder_name),
    ...(body.type === 'usdc_address' ? await checkAccount('address', body.address, usdcChain) : []),
  ])
}

/** Reads the destination from the request. Throws `validation_failed` if the bank account token cannot be used. */
async function readDestinationInput(
  context: Context,
  body: Schemas['PayoutDestinationCreate'],
): Promise<Given> {
  const { caller, db, request } = context
  const { now } = request
  const { holder_name, metadata = {} } = body
  const row = {
    id: newId('pod', now),
    holder_name,
    metadata,
    active_at: now + (await readClockOffset(db, caller.space)) + HOLD_MS,
    is_default: false,
    created: now,
    updated: now,
  }
  if (body.type === 'usdc_address') {
    const { type, address } = body
    return {
      row: { ...row, type, status: 'inactive', address, bank_account: null },
      account: null,
      otherNames: [],
    }
  }
  const given = await consumeToken(context, body.token_id, 'bank_account')
  const { account_number, routing_number, country } = given
  const bank_account = { last4: account_number.slice(-4), routing_number, country }
  return {
    row: { ...row, type: body.type, status: 'inactive', address: null, bank_account },
    account: sealAccount(context, row.id, given),
    otherNames: [given.holder_name],
  }
}

/**
 * Makes a new destination the default if the request asks for it, or if there is no default. Returns whether it is the
 * default.
 */
async function placeDefault(
  { caller, db }: Context,
  { id }: DestinationRow,
  wanted: boolean | undefined,
): Promise<boolean> {
  if (wanted === undefined) return claimDefault(db, caller.space, id)
  if (wanted) pipelined(setDefault(db, caller.space, id))
  return wanted
}

function requireGood(faults: readonly Detail[]): void {
  if (faults.length > 0) throw validationFailed(faults)
}
