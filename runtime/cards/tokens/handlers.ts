import type { Detail } from 'dateline/runtime'
import type { TokensHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { checkAddress, checkBirth, checkCountry, checkText, readAddress } from './identity.ts'
import { insertToken, type TokenRow } from './queries.ts'
import { sealDetails } from './use.ts'

type Schemas = components['schemas']

const USABLE_MS = 30 * 60_000

export const tokensHandlers = {
  async createToken(context, { body }) {
    const { caller, db, request } = context
    const { now } = request
    const faults = body.type === 'person' ? checkPerson(body.person, now) : checkAccount(body.bank_account)
    if (faults.length > 0) throw validationFailed(faults)
    const id = newId('tok', now)
    const row: TokenRow = {
      id,
      type: body.type,
      details: sealDetails(context, id, body.type === 'person' ? body.person : body.bank_account),
      expires_at: now + USABLE_MS,
      used_at: null,
      created: now,
    }
    await insertToken(db, caller.space, row)
    return { status: 201, body: showToken(row) }
  },
} satisfies TokensHandlers<Context>

function checkPerson({ name, date_of_birth, address }: Schemas['PersonInput'], now: number): Detail[] {
  return [
    ...checkText('person.name', name),
    ...checkBirth('person.date_of_birth', date_of_birth, now),
    ...checkAddress('person.address', readAddress(address)),
  ]
}

function checkAccount({ holder_name, routing_number, country }: Schemas['BankAccountInput']): Detail[] {
  const field = 'bank_account.routing_number'
  const issue = 'is not a valid ABA routing number: the check digit is wrong'
  return [
    ...checkText('bank_account.holder_name', holder_name),
    ...checkCountry('bank_account.country', country),
    ...(country === 'US' && !isRoutingNumber(routing_number) ? [{ field, issue }] : []),
  ]
}

/** Checks an ABA routing number: its digits, weighted by 3, 7 and 1 in turn, must add up to a multiple of ten. */
function isRoutingNumber(digits: string): boolean {
  const sum = [...digits].reduce((total, digit, place) => total + Number(digit) * [3, 7, 1][place % 3]!, 0)
  return sum > 0 && sum % 10 === 0
}

function showToken(row: TokenRow): Schemas['Token'] {
  return {
    id: row.id,
    object: 'token',
    type: row.type,
    expires_at: writeInstant(row.expires_at),
    used_at: row.used_at === null ? null : writeInstant(row.used_at),
    created: writeInstant(row.created),
  }
}
