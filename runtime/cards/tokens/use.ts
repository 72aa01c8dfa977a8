/** Seals the details of tokens. A token can be used once. */
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { lastingSpaceOf } from '../../database/space.ts'
import { lockToken, markUsed, type TokenRow } from './queries.ts'

type Schemas = components['schemas']

export interface TokenDetails {
  readonly bank_account: Schemas['BankAccountInput']
  readonly person: Schemas['PersonInput']
}

type Sealing = Pick<Context, 'caller' | 'seals'>

/** The sealing context. Details sealed for one token cannot be opened for any other. */
const contextOf = ({ caller }: Sealing, id: string) =>
  `tokens.details ${caller.environment} ${lastingSpaceOf(caller.space)} ${id}`

export function sealDetails(context: Sealing, id: string, details: TokenDetails[keyof TokenDetails]): Buffer {
  return context.seals.seal(JSON.stringify(details), contextOf(context, id))
}

const KINDS = { bank_account: 'a bank account', person: 'a person' }

/**
 * Uses a token within the request's transaction and returns its details. Throws `validation_failed` for `token_id` if the
 * token does not exist, was used, has expired, or has a different type.
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
  if (!token) return 'does not identify an existing token'
  if (token.type !== type) return `is a token for ${KINDS[token.type]}; expected a token for ${KINDS[type]}`
  if (token.used_at !== null) return 'was already used'
  return token.expires_at <= now ? 'has expired' : undefined
}
