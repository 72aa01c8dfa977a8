/** USDC payments from long before the first day: ended ones are deleted 90 days after they were signed last. */
import type { Database } from '../../../runtime/database/database.ts'
import { type Evidence, read } from '../checks/evidence.ts'
import { mustEqual } from '../checks/must.ts'

/** The chain of old payments, on which nothing is paid any more. */
const OLD_CHAIN = 1

const DAY_MS = 86_400_000

/** Ages of the transactions of each payment before the first day; the first one is 90 days old an hour after its start. */
const OLD: readonly (readonly [state: string, ages: readonly number[]])[] = [
  ['settled', [88 * DAY_MS - 3_600_000]],
  ['settled', [100 * DAY_MS, 60 * DAY_MS]],
  ['failed', [200 * DAY_MS]],
  ['open', [200 * DAY_MS]],
]

const KEPT = [1, 3]

/** @param now milliseconds since the epoch. */
export async function addOldPayments(db: Database, now: number): Promise<void> {
  for (const [nonce, [state, ages]] of OLD.entries()) {
    const text = `INSERT INTO control.chain_payments (chain_id, signer, nonce, environment, space, transfer_id, recipient, units, value,
                    valid_before, signature, after_block, state)
                  VALUES ($1, 'old', $2, 'sandbox', 'old', $3, 'old', 1, 1, 1, '', 1, $4)`
    await db.query({ text }, [OLD_CHAIN, nonce, `po_old${nonce}`, state])
    for (const [index, age] of ages.entries())
      await db.query(
        {
          text: `INSERT INTO control.chain_transactions (chain_id, signer, nonce, attempt, hash, raw, max_fee, priority_fee, signed_at)
                 VALUES ($1, 'old', $2, $3, $4, '', 1, 1, $5)`,
        },
        [OLD_CHAIN, nonce, index + 1, `old ${nonce} ${index}`, new Date(now - age).toISOString()],
      )
  }
}

/** Those that are old enough are gone with their transactions, and no others. */
export async function oldPaymentsAreGone({ db }: Evidence): Promise<void> {
  const nonces = async (table: string) =>
    (
      await read<{ nonce: number }>(
        db,
        `SELECT nonce FROM control.${table} WHERE chain_id = $1 ORDER BY nonce`,
        OLD_CHAIN,
      )
    ).map(({ nonce }) => Number(nonce))
  mustEqual(await nonces('chain_payments'), KEPT, 'the old payments that are kept')
  mustEqual(
    await nonces('chain_transactions'),
    KEPT.flatMap((nonce) => OLD[nonce]![1].map(() => nonce)),
    'the transactions of old payments that are kept',
  )
}
