import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { ApiError, invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { letOthersIn, PAUSE_AFTER } from '../../platform/fairness/pauses.ts'
import { type FieldValues, unknownKeys } from '../templates/fields.ts'
import { changeAtExpiry, changeNow } from './changed.ts'
import { readExpiry } from './expiry.ts'
import { NO_MOVE, passMove } from './moves.ts'
import { lockPasses, type PassRow, updatePasses } from './queries.ts'
import { isLive, statusAt } from './status.ts'
import { showingOf, showPass } from './view.ts'
import { tellWallets } from './wallet-queue.ts'

/**
 * A change to one pass. `change` returns the new row, or throws an `ApiError` if the pass does not allow the change.
 */
export interface PassRequest {
  readonly id: string
  readonly type: 'pass.updated' | 'pass.revoked' | 'pass.archived'
  readonly change: (pass: PassRow) => PassRow
}

/**
 * Changes passes in the order given and checks each one separately; a pass that is listed twice changes twice. The
 * update is pipelined: if it fails, the transaction fails.
 *
 * @param requests an `ApiError` marks an item that was refused earlier; it is returned unchanged.
 */
export async function changePasses(
  context: Context,
  requests: readonly (PassRequest | ApiError)[],
): Promise<(PassRow | ApiError)[]> {
  const { caller, db } = context
  const ids = new Set(requests.flatMap((request) => (request instanceof ApiError ? [] : [request.id])))
  const passes = await lockPasses(db, caller.space, [...ids])
  const changed = new Map<string, PassRow>()
  const news = new Map<string, PassRow>()
  const outcomes: (PassRow | ApiError)[] = []
  for (const request of requests) {
    const outcome = request instanceof ApiError ? request : attempt(request, passes.get(request.id))
    if (!(outcome instanceof ApiError)) {
      const before = passes.get(outcome.id)!
      emitPassChange(context, request as PassRequest, before, outcome)
      if (isNewsToWallets(request as PassRequest, before, outcome)) news.set(outcome.id, outcome)
      passes.set(outcome.id, outcome)
      changed.set(outcome.id, outcome)
    }
    outcomes.push(outcome)
    if (outcomes.length % PAUSE_AFTER === 0) await letOthersIn()
  }
  if (changed.size > 0) pipelined(updatePasses(db, caller.space, [...changed.values()]))
  tellWallets(db, caller.space, [...news.values()], context.request.machineNow)
  return outcomes
}

/** Archiving changes nothing that wallets show, unless it also records an expiry. */
function isNewsToWallets({ type }: PassRequest, before: PassRow, after: PassRow): boolean {
  return type !== 'pass.archived' || after.status !== before.status
}

function emitPassChange(context: Context, { type }: PassRequest, before: PassRow, after: PassRow): void {
  const show = (pass: PassRow) => ({ pass: showPass(pass, showingOf(context)) })
  // The pass was archived before a worker recorded its expiry, so the expiry event comes first.
  if (after.status === 'expired' && before.status !== 'expired') {
    const data = show({ ...before, status: 'expired' })
    emit(context.events, { type: 'pass.expired', data, passMove: NO_MOVE })
  }
  // The event may be left out, because nothing that the receiver sees has changed. A patch changes no status.
  if (type === 'pass.updated') {
    emit(context.events, { type, data: show(after), before: show(before), passMove: NO_MOVE })
  } else {
    emit(context.events, { type, data: show(after), passMove: passMove(before, after) })
  }
}

function attempt(request: PassRequest, pass: PassRow | undefined): PassRow | ApiError {
  if (!pass) return notFound()
  try {
    return request.change(pass)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Throws `invalid_state` if the pass has a final status. */
function requireLive(pass: PassRow, now: number, verb: string): void {
  const status = statusAt(pass, now)
  if (!isLive(status))
    throw invalidState(`${status === 'expired' ? 'An' : 'A'} ${status} pass cannot be ${verb}.`)
}

export function revoke(pass: PassRow, now: number): PassRow {
  requireLive(pass, now, 'revoked')
  return { ...pass, ...changeNow(pass, now), status: 'revoked', revoked_at: now, updated: now }
}

export function archive(pass: PassRow, now: number): PassRow {
  const status = statusAt(pass, now)
  if (pass.archived_at !== null) throw invalidState('The pass is archived already.')
  if (isLive(status))
    throw invalidState(`Only redeemed, revoked and expired passes can be archived; this one is ${status}.`)
  return { ...pass, ...changeAtExpiry(pass, now), status, archived_at: now, updated: now }
}

/**
 * Returns the pass after a merge patch (RFC 7396). Throws an `ApiError` if the status is final or the patch is invalid.
 */
export function patch(pass: PassRow, given: components['schemas']['PassUpdate'], now: number): PassRow {
  requireLive(pass, now, 'changed')
  const fields = patchMap(pass.fields, given.fields)
  const metadata = patchMap(pass.metadata, given.metadata)
  const expiry = patchExpiry(pass, given.expires_at, now)
  const faults: Detail[] = [
    ...unknownKeys(pass.template_fields, given.fields ?? {}),
    ...checkMetadata(metadata),
  ]
  if (typeof expiry === 'object' && expiry !== null) faults.push(expiry)
  if (faults.length > 0) throw validationFailed(faults)
  return {
    ...pass,
    ...changeNow(pass, now),
    ...patchHolder(pass, given.holder),
    fields,
    metadata,
    expires_at: typeof expiry === 'number' ? expiry : null,
    updated: now,
  }
}

/** Null clears the whole map. */
function patchMap(
  map: FieldValues,
  given: Readonly<Record<string, string | null>> | null | undefined,
): FieldValues {
  return given === null ? {} : (mergePatch(map, given ?? {}) as FieldValues)
}

function patchExpiry(pass: PassRow, given: string | null | undefined, now: number): number | null | Detail {
  if (given === undefined) return pass.expires_at
  return given === null ? null : readExpiry(given, now)
}

function patchHolder(
  pass: PassRow,
  given: components['schemas']['PassUpdate']['holder'],
): Pick<PassRow, 'holder_email' | 'holder_name'> {
  if (given === null) return { holder_email: null, holder_name: null }
  return {
    holder_email: given?.email === undefined ? pass.holder_email : given.email,
    holder_name: given?.name === undefined ? pass.holder_name : given.name,
  }
}
