import type { ProvisioningPayloadsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, notImplemented, validationFailed } from '../../api/errors/errors.ts'
import { type Context, prepared } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { CardSecrets } from '../card-keys/card-keys.ts'
import { readCardholder } from '../cardholders/queries.ts'
import { type CardRow, lockCard, readCard } from '../cards/queries.ts'
import { placeOf } from '../cards/stored-number.ts'
import { eligibilityOf } from '../cards/view.ts'
import type { CardForWallet } from './encryption/apple.ts'
import { insertPayload, listPayloads, type PayloadRow, readPayload } from './queries.ts'

type Schemas = components['schemas']

interface PayloadInput {
  readonly path: { readonly card_id: string }
  readonly body: Schemas['ProvisioningPayloadCreate']
}

const NO_GOOGLE = 'Cards cannot be added to Google Pay on this installation. Use apple_pay.'

/** The network that issues device card numbers. All test card numbers are in a Visa range. */
const NETWORK = 'visa'

export const provisioningPayloadsHandlers = {
  createProvisioningPayload: prepared(
    async (context, { path, body }: PayloadInput) => {
      const encrypt = encryptionFor(context, body)
      return { encrypt, secrets: await context.vault.reveal(placeOf(context.caller, path.card_id)) }
    },
    async (context, { path, body }, { encrypt, secrets }) => {
      const { caller, db, request } = context
      const card = await lockCard(db, caller.space, path.card_id)
      if (!card || !secrets) throw notFound()
      const { eligible, ineligible_reason } = eligibilityOf(card, request.now)
      if (!eligible) throw invalidState(`The card cannot be added to a wallet: ${ineligible_reason}.`)
      const row: PayloadRow = {
        id: newId('ppl', request.now),
        card_id: card.id,
        wallet: body.wallet,
        nonce: body.wallet === 'apple_pay' ? body.nonce.toLowerCase() : null,
        last4: card.last4,
        wallet_token_id: null,
        consumed_at: null,
        created: request.now,
      }
      if (!(await insertPayload(db, caller.space, row))) {
        throw validationFailed([{ field: 'nonce', issue: 'was already used for this card' }])
      }
      const forWallet = await cardForWallet(context, card, secrets)
      return { status: 201 as const, body: { ...showPayload(row), ...encrypt(forWallet) } }
    },
  ),

  async listProvisioningPayloads(context, { path, query }) {
    const { card_id } = path
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        if (!(await readCard(db, space, card_id))) throw notFound()
        return listPayloads(db, space, { ...filter, card_id: [card_id] }, page)
      },
      showPayload,
    )
  },

  async getProvisioningPayload({ caller, db }, { path }) {
    const row = await readPayload(db, caller.space, path.provisioning_payload_id)
    if (row?.card_id !== path.card_id) throw notFound()
    return { status: 200, body: showPayload(row) }
  },
} satisfies ProvisioningPayloadsHandlers<Context>

/**
 * Returns a function that encrypts the card for the device. Throws `validation_failed` if the certificate chain is not
 * trusted.
 */
function encryptionFor(
  { cardEncryption }: Context,
  request: Schemas['ProvisioningPayloadCreate'],
): (card: CardForWallet) => object {
  if (request.wallet === 'google_pay') {
    return (card) => {
      const opaque_payment_card = cardEncryption.forGoogle(card, request)
      return opaque_payment_card === undefined ? notImplemented(NO_GOOGLE) : { opaque_payment_card }
    }
  }
  const leaf = cardEncryption.checkChain(request.certificates)
  if ('field' in leaf) throw validationFailed([leaf])
  return (card) => cardEncryption.forApple(card, request, leaf)
}

async function cardForWallet(
  { caller, db }: Context,
  card: CardRow,
  secrets: CardSecrets,
): Promise<CardForWallet> {
  const cardholder = await readCardholder(db, caller.space, card.cardholder_id)
  const { exp_month, exp_year } = card
  return { ...secrets, exp_month, exp_year, holderName: cardholder?.name ?? '' }
}

function showPayload(row: PayloadRow): Schemas['ProvisioningPayload'] {
  const { id, card_id, wallet, last4, wallet_token_id, consumed_at, created } = row
  const common = {
    id,
    object: 'provisioning_payload',
    card_id,
    wallet_token_id,
    consumed_at: consumed_at === null ? null : writeInstant(consumed_at),
    created: writeInstant(created),
  } as const
  if (wallet === 'apple_pay') return { ...common, wallet }
  return { ...common, wallet: 'google_pay', card_network: NETWORK, token_service_provider: NETWORK, last4 }
}
