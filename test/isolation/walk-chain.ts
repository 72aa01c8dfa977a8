import { expect } from 'vitest'
import type { Pool } from '../../runtime/database/pool/pool.ts'
import {
  findDueTransfers,
  lockTransfer,
  updateTransfer,
  withdraw,
} from '../../runtime/money/chain/transfer-queries.ts'
import { enqueueTransfer } from '../../runtime/money/chain/transfers.ts'
import { newId } from '../../runtime/platform/ids.ts'

const TO = 'eip155:31337:0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** A transfer that is paid, and one that is taken back. */
export async function walkTransfers(pool: Pool, space: string, now: number): Promise<void> {
  const [paid, withdrawn] = [newId('po'), newId('po')]
  await pool.transaction(async (db) => {
    for (const id of [paid, withdrawn]) enqueueTransfer(db, space, { id, to: TO, amountCents: 1 }, now)
    expect(await withdraw(db, space, withdrawn, now)).toBe(true)
  })
  const due = await findDueTransfers(pool, now, 100)
  expect(due.some(({ id }) => id === paid)).toBe(true)
  await pool.transaction(async (db) => {
    const row = await lockTransfer(db, space, paid)
    await updateTransfer(db, { ...row!, state: 'paid', due: null })
  })
}
