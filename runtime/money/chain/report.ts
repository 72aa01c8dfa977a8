/** Updates a transfer's row and notifies the payout's listener in one transaction of the environment's database. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { currentSpan, runInSpan, type SpanStart, type Tracer } from '../../tracing/span.ts'
import { lockTransfer, type TransferRow, updateTransfer } from './transfer-queries.ts'
import type { FailureCode, OpenListener, TransferChange, TransferListener } from './transfers.ts'

export interface TransferReportParts {
  readonly pools: Readonly<Record<Environment, Pool>>
  readonly openListener: OpenListener
  readonly clock: Clock
  readonly tracer?: Tracer | undefined
}

/** Identifies the row of a transfer. */
export interface TransferPlace {
  readonly environment: Environment
  readonly space: string
  readonly id: string
}

/** A changed row and the change that the listener is notified of. */
export interface TransferStep {
  readonly row: TransferRow
  readonly told?: TransferChange
}

export type Decide = (
  row: TransferRow,
  asked: { readonly listener: TransferListener; readonly db: Database },
) => TransferStep | undefined | Promise<TransferStep | undefined>

/** A transition that depends only on the row. */
type TransferTransition = (row: TransferRow) => TransferStep | undefined

/**
 * Locks a transfer, applies `decide`, and writes the result. Returns the written row, or undefined if the tenant's sandbox
 * was wiped.
 */
export async function report(
  { pools, openListener, clock, tracer }: TransferReportParts,
  { environment, space, id }: TransferPlace,
  decide: Decide,
): Promise<TransferRow | undefined> {
  const listener = await openListener(environment, space)
  const { tenantId } = readSpace(space)
  let told = false
  const work = async (db: Database) => {
    told = false
    const row = await lockTransfer(db, space, id)
    const step = row && (await decide(row, { listener, db }))
    if (!step) return row
    const now = Math.max(clock.service(environment), row.updated)
    const written = { ...step.row, updated: now }
    pipelined(updateTransfer(db, written))
    const { told: change } = step
    if (change) {
      // A transfer that is being signed has a span already.
      const span = currentSpan() ? undefined : tracer?.resume(row.trace, spanOfTransfer(id, change.state))
      await runInSpan(span, () => listener.changed(db, id, change, now))
    }
    told = change !== undefined
    return written
  }
  try {
    const row = await pools[environment].forTenant(tenantId).transaction(work)
    if (told) listener.committed?.()
    return row
  } catch (error) {
    if (isSpaceWiped(error)) return undefined
    throw error
  }
}

/** @param work what is done for the payout, such as `sign`. */
export const spanOfTransfer = (id: string, work: string): SpanStart => ({
  name: `pay out USDC: ${work}`,
  kind: 'consumer',
  attributes: { 'svc.payout_id': id },
})

/** Columns of a transfer that is not waiting to be signed. */
const NOT_DUE = { due: null, held_up_since: null, problem: null } as const

const ENDED = new Set(['paid', 'failed', 'withdrawn'])

/** The transfer was signed, with this hash. A payment that has already ended keeps its state. */
export const inTransit =
  (chain: string, hash: string): TransferTransition =>
  (row) => {
    if (ENDED.has(row.state)) return row.due === null ? undefined : { row: { ...row, ...NOT_DUE } }
    if (row.state === 'in_transit' && row.hash === hash && row.due === null) return undefined
    const next = {
      ...row,
      state: 'in_transit',
      hash,
      confirmations: 0,
      ...NOT_DUE,
    } as const
    return { row: next, told: { state: 'in_transit', chain, hash } }
  }

export const confirmed =
  (chain: string, hash: string, confirmations: number): TransferTransition =>
  (row) => {
    if (ENDED.has(row.state) || (row.hash === hash && row.confirmations === confirmations)) return
    const next = { ...row, state: 'in_transit', hash, confirmations, ...NOT_DUE } as const
    return { row: next, told: { state: 'confirmed', chain, hash, confirmations } }
  }

/**
 * The transfer has its confirmations. If it was not reported as in transit yet, because a process ended after it had stored
 * the signed payment, it is first reported as that, and the next call reports it as paid. Likewise `failed` with a
 * transaction.
 */
export const paid =
  (chain: string, hash: string, confirmations: number): TransferTransition =>
  (row) => {
    if (ENDED.has(row.state)) return
    if (row.state !== 'in_transit') return inTransit(chain, hash)(row)
    const next = { ...row, state: 'paid', hash, confirmations, ...NOT_DUE } as const
    return { row: next, told: { state: 'paid', chain, hash, confirmations } }
  }

/**
 * The block of the transaction was removed from the chain. A transfer that was reported as paid stays paid; it is sent again
 * until it is confirmed again.
 */
export const reorged =
  (chain: string, hash: string): TransferTransition =>
  (row) => {
    if (ENDED.has(row.state)) return
    return { row: { ...row, hash, confirmations: 0 }, told: { state: 'reorged', chain, hash } }
  }

/** @param sent the transaction that failed. Absent if none was signed. */
export const failed =
  (code: FailureCode, sent?: { readonly chain: string; readonly hash: string }): TransferTransition =>
  (row) => {
    if (ENDED.has(row.state)) return
    if (sent && row.state !== 'in_transit') return inTransit(sent.chain, sent.hash)(row)
    const next = { ...row, state: 'failed', failure_code: code, ...NOT_DUE } as const
    return { row: next, told: { state: 'failed', code } }
  }
