/** The rules by which the network decides in place of an issuer that does not answer. */
import type { SimulatedMessage } from './messages.ts'

type Request = Extract<SimulatedMessage, { kind: 'authorize' | 'increment' }>

/** Largest amount that the network approves, in cents. */
const FLOOR_LIMIT = 20_000

/** Approvals per card in a run. */
const MAX_APPROVALS = 20

/** Cash is never paid out without the issuer (manual disbursements and ATMs, ISO 18245). */
const CASH = new Set(['6010', '6011'])

/** Creates the rules, which count their approvals per card. */
export function createStandIn(): { approves(request: Request): boolean } {
  const approvals = new Map<string, number>()
  return {
    approves: (request) => {
      const { card_number, amount } = request.message
      const count = approvals.get(card_number) ?? 0
      const isCash = request.kind === 'authorize' && CASH.has(request.message.merchant.category_code)
      if (isCash || amount > FLOOR_LIMIT || count >= MAX_APPROVALS) return false
      approvals.set(card_number, count + 1)
      return true
    },
  }
}
