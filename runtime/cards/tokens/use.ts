/** What a token holds: sealed from its making until it is used, once. */
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { lockToken, markUsed, type TokenRow } from './queries.ts'

type Schemas = components['schemas']

/** By type. */
export interface TokenDetails {
  readonly bank_account: Schemas['BankAccountInput']
  readonly person: Schemas['PersonInput']
}

type Sealing = Pick<Context, 'caller' | 'seals'>

/** Sealed for one token, it opens for no other. */
const contextOf = ({ caller }: Sealing, id: string) =>
  `tokens.details ${caller.environment} ${caller.space} ${id}`

export function sealDetails(context: Sealing, id: string, details: TokenDetails[keyof TokenDetails]): Buffer {
  return context.seals.seal(JSON.stringify(details), contextOf(context, id))
}

const KINDS = { bank_account: 'a bank account', person: 'a person' }

/**
 * Uses a token in the transaction of the request. Throws `validation_failed` for `token_id` where there is none, it was used
 * or has expired, or is of another type.
 */
export async function consumeToken<Type extends keyof TokenDetails>(
  context: Context,
  id: string,
  type: Type,
): Promise<TokenDetails[Type]> {
  const { caller, db, seals, request } = context
  const token = await lockToken(db, caller.space, id)
  const issue = issueWith(token, type, request.now)
  if (!token?.details || issue !== undefined) throw validationFailed([{ field: 'token_id', issue: issue! }])
  pipelined(markUsed(db, caller.space, id, request.now))
  return JSON.parse(seals.unseal(token.details, contextOf(context, id)))
}

function issueWith(token: TokenRow | undefined, type: keyof TokenDetails, now: number): string | undefined {
  if (!token) return 'names no token'
  if (token.type !== type) return `is a token of ${KINDS[token.type]}; one of ${KINDS[type]} is needed`
  if (token.used_at !== null) return 'is used already'
  return token.expires_at <= now ? 'has expired' : undefined
}
