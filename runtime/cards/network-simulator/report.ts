/** Prints what the simulator does, for people and for programs. Card numbers are shown with their last four digits only. */
import { transactionOf } from './forwarding.ts'
import type { Happening, RunTally } from './run-scenario.ts'

function partsOf({ sent, outcome, note }: Happening) {
  const { kind, message } = sent
  return {
    kind,
    message_id: message.message_id,
    transaction_id: transactionOf(sent),
    card_last4: 'card_number' in message ? message.card_number.slice(-4) : undefined,
    amount: 'amount' in message ? message.amount : undefined,
    about:
      ('merchant' in message && message.merchant?.name) ||
      ('status' in message && message.status) ||
      ('stage' in message && message.stage) ||
      undefined,
    outcome,
    note,
  }
}

/** One line of JSON. */
export const happeningJson = (happening: Happening): string => `${JSON.stringify(partsOf(happening))}\n`

/** One line of text. @param number of the line, from 1. */
export function happeningWords(number: number, happening: Happening): string {
  const { kind, card_last4, amount, about, outcome, note } = partsOf(happening)
  const card = card_last4 === undefined ? '' : `…${card_last4}`
  const money = amount === undefined ? '' : (amount / 100).toFixed(2)
  const columns = [
    `${number}`.padStart(5),
    kind.padEnd(14),
    card.padEnd(5),
    money.padStart(10),
    (about ?? '').padEnd(15),
  ]
  return `${columns.join('  ')}  ${outcome}${note === undefined ? '' : ` (${note})`}\n`
}

/** The last lines. @param written what the clearing file has. */
export function summaryWords(tally: RunTally, written?: object): string {
  const all = { ...tally, ...written }
  return `\n${Object.entries(all)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`)
    .join('\n')}\n`
}
