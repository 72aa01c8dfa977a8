/** Cards of a test service, the network that uses them, and what imports its files. */
import { createCardKeys } from '../../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../../runtime/cards/card-keys/directory.ts'
import { findByDigest } from '../../../runtime/cards/card-keys/directory-queries.ts'
import type { ImportParts } from '../../../runtime/cards/clearing/import.ts'
import { makeKey, makeTenant, type Send, START, speak, type TestService } from '../../support/service.ts'
import { makeCard } from '../fixtures.ts'
import type { TestRecord } from './clearing-file.ts'

export interface TestCard {
  readonly tenantId: string
  readonly send: Send
  readonly id: string
  readonly number: string
}

/** Makes a tenant with money and a card. @param more members of the card. */
export async function openCard(service: TestService, more: object = {}): Promise<TestCard> {
  const tenantId = await makeTenant(service, 'enterprise')
  const send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
  await send('/v1/test/funding', { body: { amount: 1_000_000 } })
  const { id } = await makeCard(send, more)
  return { tenantId, send, id, number: (await send(`/v1/cards/${id}/details`)).body.number }
}

export function openImport({ database, clock, wakeUps }: TestService): ImportParts {
  const room = database.cards!.pool
  const keys = createCardKeys(database.cards!, clock)
  return {
    ...{ database, clock, digest: keys.digest, cards: createCardDirectory(room, keys) },
    rates: { interchange: 150, networkFee: 10 },
    wakeUpChannel: { publish: wakeUps.notify },
    findByDigest: (environment, digest) => findByDigest(room, environment, digest),
  }
}

export const MERCHANT = { name: 'Harbor "Diner", Ltd', category_code: '5812', country: 'US' }

/** A record of a card use, sent a number of seconds after the start. */
export const record = (
  kind: string,
  card: Pick<TestCard, 'number'>,
  use: string,
  second: number,
  more: TestRecord = {},
): TestRecord => ({
  kind,
  message_id: `${use}.${second}`,
  transaction_id: use,
  sent_at: new Date(START + second * 1000).toISOString(),
  card_number: card.number,
  ...more,
})

export const paying = (amount: number) => ({ amount, currency: 'usd', merchant: MERCHANT })
