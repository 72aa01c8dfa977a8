/** In the sandbox, what phones do: they use payloads, so that cards come to be on devices. */

import type { Logger } from 'pino'
import { readPin } from '../../admin/pins.ts'
import { collectEvents, emit } from '../../events/emit.ts'
import type { WakeUpChannel } from '../../events/wake-ups.ts'
import { systemEntry } from '../../platform/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../platform/audit/queries.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/database/database.ts'
import { enqueue } from '../../platform/database/enqueue.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { readSpace } from '../../platform/database/space.ts'
import { newId } from '../../platform/ids.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { lockCard } from '../cards/queries.ts'
import { eligibilityOf } from '../cards/view.ts'
import { showWalletToken } from '../wallet-tokens/changes.ts'
import { insertWalletToken, type WalletTokenRow } from '../wallet-tokens/queries.ts'
import { type AwaitingPayload, findAwaiting, lockAwaiting, settlePayload } from './queries.ts'

export interface StandInParts {
  readonly database: { readonly sandbox: Pool; readonly control: Database }
  readonly clock: Pick<Clock, 'service'>
  readonly wakeUpChannel: WakeUpChannel
}

/** Payloads looked for at a time. */
const BATCH = 100

/** Uses the payloads of the sandbox that no wallet has used, each once however many nodes try. */
export async function usePayloads(parts: StandInParts): Promise<void> {
  for (;;) {
    const awaiting = await findAwaiting(parts.database.sandbox, BATCH)
    for (const payload of awaiting) {
      const due = await usePayload(parts, payload).catch((error: unknown) => {
        if (isSpaceWiped(error)) return false // the next look does not find it
        throw error
      })
      if (due) parts.wakeUpChannel.publish('sandbox', payload.tenant_id)
    }
    if (awaiting.length < BATCH) return
  }
}

/** Gives whether deliveries may be due. */
async function usePayload(
  { database, clock }: StandInParts,
  { tenant_id: space, id, card_id }: AwaitingPayload,
): Promise<boolean> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, 'sandbox')
  const now = clock.service('sandbox')
  return database.sandbox.forTenant(tenantId).transaction(async (db) => {
    // The card first, as where it ends.
    const card = await lockCard(db, space, card_id)
    const payload = await lockAwaiting(db, space, id)
    if (!payload) return false // another node was quicker
    if (!card || !eligibilityOf(card, now).eligible) {
      await settlePayload(db, space, id)
      return false
    }
    const token: WalletTokenRow = {
      id: newId('wtk', now),
      card_id,
      provisioning_payload_id: id,
      wallet: payload.wallet,
      status: 'requested',
      created: now,
      updated: now,
    }
    enqueue(insertWalletToken(db, space, token))
    enqueue(settlePayload(db, space, id, { tokenId: token.id, at: now }))
    const events = collectEvents({ tenantId: space, pin, now })
    emit(events, { type: 'card.wallet_token.created', data: { wallet_token: showWalletToken(token) } })
    const due = events.write(db)
    enqueue(appendAudit(db, space, systemEntry('sandbox', 'wallet_token.created', token.id, now)))
    return due
  })
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startStandInJob(parts: StandInParts, log: Logger): PeriodicJob {
  return runPeriodically(() => usePayloads(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'payloads could not be used; the next look finds them'),
  })
}
