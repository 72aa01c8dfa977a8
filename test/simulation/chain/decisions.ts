/** What an operator does about payouts: it decides those that contradictory answers hold up, and holds all of them for a while. */
import { keccak256, stringToHex } from 'viem'
import type { Database } from '../../../runtime/database/database.ts'
import { readSpace } from '../../../runtime/database/space.ts'
import { decidePayout, listHeldUp, retryPayout } from '../../../runtime/operator/held-up-payouts.ts'
import type { Operator } from '../../../runtime/tenants/admin/change.ts'
import type { Scheduler } from '../clockwork/scheduler.ts'
import type { Blocks } from './blocks.ts'
import { addressOf, CHAIN_ID } from './node.ts'

/** Decides each payment that is held up as the chain shows it, and lets the others be tried again. */
export async function decideHeldUp(operator: Operator, { mined }: Pick<Blocks, 'mined'>): Promise<void> {
  for (const { stage, space, id } of await listHeldUp(operator.control)) {
    if (stage !== 'chain') continue
    const { tenantId } = readSpace(space!)
    const nonce = keccak256(stringToHex(id))
    const paid = mined.find(({ isPaid, authorization }) => isPaid && authorization?.nonce === nonce)
    if (paid) await decidePayout(operator, tenantId, id, 'paid', paid.hash)
    else await retryPayout(operator, tenantId, id)
  }
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** When payouts wait, in milliseconds since midnight. */
const HOLDS = [
  [2 * MINUTE_MS, 75 * MINUTE_MS],
  [302 * MINUTE_MS, 375 * MINUTE_MS],
] as const

/** @param midnight milliseconds since the epoch. */
export const holdsOf = (midnight: number): readonly (readonly [from: number, until: number])[] =>
  HOLDS.map(([from, until]) => [midnight + from, midnight + until])

/** What the log says while payouts wait. */
export const HELD = 'USDC payouts wait: the database was restored; run admin reconcile'

/** At times, the database looks as if it was restored and not reconciled. @param act changes `control`. */
export async function holdPayouts(
  { sleep, timers }: Pick<Scheduler, 'sleep' | 'timers'>,
  act: (text: string) => Promise<unknown>,
): Promise<void> {
  for (const [from, until] of holdsOf(timers.now - (timers.now % DAY_MS))) {
    await sleep(from - timers.now)
    await act('UPDATE control.restores SET reconciled_at = NULL')
    await sleep(until - timers.now)
    await act('UPDATE control.restores SET reconciled_at = now()')
  }
}

/** When a payment of the day looks as if the bank had made it almost a week ago, in milliseconds since midnight. */
const AGED_MS = 270 * MINUTE_MS

const AGE = `UPDATE live.bank_transfers SET paid_at = paid_at - interval '166 hours'
              WHERE id = (SELECT id FROM live.bank_transfers WHERE state = 'paid' ORDER BY id LIMIT 1)`

/** Makes one bank payment older. @param act changes `live`. */
export async function agePayment(
  { sleep, timers }: Pick<Scheduler, 'sleep' | 'timers'>,
  act: (text: string) => Promise<unknown>,
): Promise<void> {
  await sleep(AGED_MS - (timers.now % DAY_MS))
  await act(AGE)
}

/** Gives two wallets of a merchant addresses that nobody can be paid at, as if the operator had changed the chain. */
export async function moveDestinations(
  control: Database,
  tenantId: string,
  name: string,
  { moved, misspelt }: Readonly<Record<'moved' | 'misspelt', string>>,
): Promise<void> {
  const wrong = addressOf(`${name} misspelt`).replaceAll(/[a-f]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
  const accounts = {
    [moved]: `eip155:1:${addressOf(`${name} moved`)}`,
    [misspelt]: `eip155:${CHAIN_ID}:${wrong}`,
  }
  const text = 'UPDATE sandbox.payout_destinations SET address = $3 WHERE tenant_id = $1 AND id = $2'
  for (const [id, address] of Object.entries(accounts)) await control.query({ text }, [tenantId, id, address])
}
