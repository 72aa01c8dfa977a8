/** Changes to locked wallet tokens: writes them and emits their events. */
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { type EventSink, emit } from '../../events/emit/emit.ts'
import { writeInstant } from '../../platform/instants.ts'
import { lockTokensOf, updateWalletToken, type WalletTokenRow } from './queries.ts'

type Schemas = components['schemas']
type WalletTokenStatus = WalletTokenRow['status']

/** The parts of a request context that wallet token changes use. */
export interface TokenContext extends Pick<Context, 'db'> {
  readonly events: EventSink
  readonly caller: Pick<Context['caller'], 'space'>
  readonly request: Pick<Context['request'], 'now'>
}

export function showWalletToken({ created, updated, ...rest }: WalletTokenRow): Schemas['WalletToken'] {
  return { ...rest, object: 'wallet_token', created: writeInstant(created), updated: writeInstant(updated) }
}

const NEXT: Readonly<Record<WalletTokenStatus, readonly WalletTokenStatus[]>> = {
  requested: ['active', 'deleted'],
  active: ['suspended', 'deleted'],
  suspended: ['active', 'deleted'],
  deleted: [],
}

/** Returns the token with a new status, or the same token if the status is unchanged. Throws `invalid_state`. */
export function changeStatus(token: WalletTokenRow, status: WalletTokenStatus, now: number): WalletTokenRow {
  if (token.status === 'deleted') throw invalidState('The wallet token is deleted and cannot be changed.')
  if (token.status === status) return token
  if (!NEXT[token.status].includes(status)) {
    throw invalidState(`The wallet token status cannot change from ${token.status} to ${status}.`)
  }
  return { ...token, status, updated: now }
}

/** Writes a locked token if it changed, and emits the event. */
export function writeToken(
  { caller, db, events }: Omit<TokenContext, 'request'>,
  before: WalletTokenRow,
  after: WalletTokenRow,
): Schemas['WalletToken'] {
  const [old, shown] = [showWalletToken(before), showWalletToken(after)]
  if (after !== before) {
    pipelined(updateWalletToken(db, caller.space, after))
    const data = { wallet_token: shown }
    emit(events, { type: 'card.wallet_token.updated', data, before: { wallet_token: old } })
  }
  return shown
}

/** Ends the wallet tokens of a canceled card: moves them to the card's replacement, or deletes them if there is none. */
export async function endTokens(
  context: TokenContext,
  cardId: string,
  successorId: string | undefined,
): Promise<void> {
  const { now } = context.request
  for (const token of await lockTokensOf(context.db, context.caller.space, cardId)) {
    const ended = successorId === undefined ? { status: 'deleted' as const } : { card_id: successorId }
    writeToken(context, token, { ...token, ...ended, updated: now })
  }
}
