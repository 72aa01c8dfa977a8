/** Records a scan and its consequences in the transaction of the request. */
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { NO_MOVE, passMove } from '../passes/moves.ts'
import { lockPasses, type PassRow, updatePasses } from '../passes/queries.ts'
import { showingOf, showPass } from '../passes/view.ts'
import { tellWallets } from '../passes/wallet-queue.ts'
import { readCodeOptions } from '../templates/queries.ts'
import { isAccepted, readCode } from './codes.ts'
import { insertScan, type ScanRow } from './queries.ts'
import { scanPass } from './result.ts'

type Schemas = components['schemas']

/** Scanner input: either `pass_id` or `barcode_message`. */
export type ScanReading = Schemas['ScanCreate']

/**
 * Records a scan, including a rejected one. Concurrent scans of a pass are serialized by its row lock, so each sees the
 * effects of the previous ones. Throws `validation_failed` if `pass_id` does not exist.
 */
export async function recordScan(context: Context, reading: ScanReading): Promise<Schemas['Scan']> {
  const { caller, db, events, request } = context
  const { now } = request
  const { mode, scanner, location } = reading
  const { pass: before, isOutdated } = await lockPass(context, reading)
  const scanned =
    before && (isOutdated ? { result: 'outdated_code' as const, pass: before } : scanPass(before, mode, now))
  const row: ScanRow = {
    id: newId('scan', now),
    pass_id: before?.id ?? null,
    mode,
    result: scanned?.result ?? 'unknown',
    scanner: scanner ?? null,
    latitude: location?.latitude ?? null,
    longitude: location?.longitude ?? null,
    created: now,
  }
  const scan = showScan(row)
  pipelined(insertScan(db, caller.space, row))
  if (scanned) {
    const move = passMove(before, scanned.pass)
    emit(events, { type: 'pass.scanned', data: { scan }, passMove: move })
    if (scanned.pass !== before) changePass(context, scanned.pass)
  }
  return scan
}

interface LockedPass {
  /** Undefined if the code does not belong to a pass. */
  readonly pass: PassRow | undefined
  /** Whether the code is one that the pass does not have now. */
  readonly isOutdated: boolean
}

/** Locks the scanned pass. */
async function lockPass(context: Context, { pass_id, barcode_message }: ScanReading): Promise<LockedPass> {
  const { caller, db, links } = context
  const code =
    pass_id === undefined ? readCode(links.passTokens, caller.space, barcode_message ?? '') : undefined
  const id = pass_id ?? code?.passId
  const pass = id === undefined ? undefined : (await lockPasses(db, caller.space, [id])).get(id)
  if (!pass && pass_id !== undefined) {
    throw validationFailed([{ field: 'pass_id', issue: 'is not the ID of a pass' }])
  }
  if (!pass || !code) return { pass, isOutdated: false }
  const options = await readCodeOptions(db, caller.space, pass.template_id)
  return { pass, isOutdated: !isAccepted(context, code, options) }
}

/** Writes the pass. Wallets show an active pass as before, so they are updated only after a redemption. */
function changePass(context: Context, pass: PassRow): void {
  const { caller, db, events, request } = context
  pipelined(updatePasses(db, caller.space, [pass]))
  if (pass.status !== 'redeemed') return
  tellWallets(db, caller.space, [pass], request.machineNow)
  emit(events, {
    type: 'pass.redeemed',
    data: { pass: showPass(pass, showingOf(context)) },
    passMove: NO_MOVE, // the event of the scan has it
  })
}

export function showScan(row: ScanRow): Schemas['Scan'] {
  const { latitude, longitude } = row
  const at = writeInstant(row.created)
  return {
    id: row.id,
    object: 'scan',
    pass_id: row.pass_id,
    mode: row.mode,
    result: row.result,
    scanner: row.scanner,
    location: latitude === null || longitude === null ? null : { latitude, longitude },
    scanned_at: at,
    created: at,
  }
}
