/** The messages of the card network about a transaction, which no operation of the API shows. */
import { type ExplainedMessage, explainMessages, messagesOf } from '../../../cards/transactions/messages.ts'
import { readCardTransaction, type TransactionMessage } from '../../../cards/transactions/queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeInstant } from '../../../platform/instants.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { LinkTo, ShownText } from '../../engine/shapes.ts'
import { code, exactly, money, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'

const EFFECTS: Readonly<Record<ExplainedMessage['effect'], string>> = {
  applied: 'Applied',
  waiting: 'Waiting for a clearing',
  superseded: 'Replaced by an advice',
  none: 'No effect: nothing was held',
}

const time = (at: number) => exactly(writeInstant(at))

/** Steps that the service takes itself. */
const OWN: Readonly<Partial<Record<TransactionMessage['kind'], string>>> = {
  release: 'Release by you',
  expiry: 'Expiry of the hold',
}

export async function writeNetworkMessages(
  { id, currency }: { readonly id: string; readonly currency: string },
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { db, space } = await visit.place()
  const row = await readCardTransaction(db, space, id)
  if (!row || row.network_id === null)
    return html`<p class="empty">This transaction was simulated, so the card network has no messages about it.</p>`
  const messages = explainMessages(messagesOf(row), row.disputed)
  return html`<details><summary>Show messages (${String(messages.length)})</summary>
${facts([['Network transaction ID', code(row.network_id)]])}
${writeTable(
  'Messages of the card network',
  [
    { title: 'Message', show: ({ message }) => kindOf(message) },
    { title: 'Sent, arrived', show: ({ message: { at, created } }) => html`${time(at)}<br>${time(created)}` },
    { title: 'Amount', isAmount: true, show: ({ message }) => amountOf(message, currency) },
    { title: 'Result', show: (each) => resultOf(each, currency) },
    { title: 'Message ID', show: ({ message }) => code(message.id) },
  ],
  messages,
  link,
)}
<p class="quiet">Messages are in the order in which the network sent them. An advice is a decision that the network made itself. A message that arrives late has the same effect as one in time.</p></details>`
}

function kindOf({ kind, advises }: TransactionMessage): string {
  if (advises === undefined) return OWN[kind] ?? words(kind)
  return `Advice: ${kind}`
}

function amountOf({ amount }: TransactionMessage, currency: string): ShownText {
  return amount === undefined ? 'All that is held' : money(amount, currency)
}

function resultOf({ message, effect }: ExplainedMessage, currency: string): ShownText {
  const { kind, approved, declined } = message
  if (kind !== 'authorization' && kind !== 'increment') return EFFECTS[effect]
  const decision =
    approved === undefined
      ? `Declined${declined === undefined ? '' : `: ${words(declined).toLowerCase()}`}`
      : html`Approved: ${money(approved, currency)}`
  return effect === 'applied' ? decision : html`${decision}. ${EFFECTS[effect]}.`
}
