/** Simulates phones in the sandbox: uses provisioning payloads, so that cards appear on devices. */

import { pipelined } from '../../database/pipelined.ts'
import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { lockCard } from '../cards/queries.ts'
import { eligibilityOf } from '../cards/view.ts'
import { showWalletToken } from '../wallet-tokens/changes.ts'
import { insertWalletToken, type WalletTokenRow } from '../wallet-tokens/queries.ts'
import {
  type AwaitingPayload,
  findAwaiting,
  lockAwaiting,
  type PayloadRow,
  settlePayload,
} from './queries.ts'

/** Uses pending payloads in the sandbox. Each payload locks its card, so each runs in a separate transaction. */
export function payloadWorker(parts: DueParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'provisioning_payloads',
    finds: [(db, _, limit) => findAwaiting(db, limit)],
    isSingle: true,
    environments: ['sandbox'],
    act: (place, [payload]) => usePayload(place, payload!),
  })
}

async function usePayload(
  { db, space, events, now }: DuePlace,
  { id, card_id }: AwaitingPayload,
): Promise<readonly Done[]> {
  // Lock order: the card before the payload.
  const card = await lockCard(db, space, card_id)
  const payload = await lockAwaiting(db, space, id)
  if (!payload) return [] // another node has used it
  if (!card || !eligibilityOf(card, now).eligible) {
    await settlePayload(db, space, id)
    return []
  }
  const token = addToken({ db, space, events, now }, card_id, payload, payload.wallet)
  return [{ id: token.id, action: 'wallet_token.created' }]
}

/** Writes a new wallet token of a card, and ends the payload that the wallet used, if there was one. */
export function addToken(
  { db, space, events, now }: Omit<DuePlace, 'environment'>,
  cardId: string,
  payload: Pick<PayloadRow, 'id'> | undefined,
  wallet: PayloadRow['wallet'],
): WalletTokenRow {
  const token: WalletTokenRow = {
    id: newId('wtk', now),
    card_id: cardId,
    provisioning_payload_id: payload?.id ?? null,
    wallet,
    status: 'requested',
    created: now,
    updated: now,
  }
  pipelined(insertWalletToken(db, space, token))
  if (payload) pipelined(settlePayload(db, space, payload.id, { tokenId: token.id, at: now }))
  emit(events, { type: 'card.wallet_token.created', data: { wallet_token: showWalletToken(token) } })
  return token
}
