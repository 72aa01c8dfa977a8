import type { Statement } from '../database/database.ts'
import { ControlError, change, isoTime, type Operator } from '../tenants/admin/change.ts'

const START_AT: Statement = { text: 'UPDATE control.clock SET offset_ms = $1, start_offset_ms = $1' }

const START_PLAIN: Statement = {
  text: `UPDATE control.clock SET offset_ms = offset_ms - start_offset_ms, start_offset_ms = 0
         WHERE start_offset_ms <> 0`,
}

const ADVANCE: Statement = {
  text: `UPDATE control.clock SET offset_ms = offset_ms + $1 WHERE environment = 'sandbox' RETURNING offset_ms`,
}

/** A hundred years. A larger number is more likely a typing error than a test. */
const LARGEST_ADVANCE_S = 100 * 366 * 86_400

/**
 * Sets the service time of both environments when the service starts.
 *
 * @param clockStart SVC_CLOCK, in milliseconds since the epoch. Undefined reverts the effect of an earlier SVC_CLOCK
 * but keeps manual advances.
 */
export async function startClock(operator: Operator, clockStart: number | undefined): Promise<void> {
  await change(operator, (tx) =>
    clockStart === undefined
      ? tx.query(START_PLAIN)
      : tx.query(START_AT, [Math.round(clockStart - operator.clock.machine())]),
  )
}

/** Advances the service time of the sandbox. Throws `refused` in production. */
export async function advanceClock(
  operator: Operator,
  seconds: number,
  production: boolean,
): Promise<{ environment: 'sandbox'; advanced_seconds: number; offset_seconds: number; now: string }> {
  if (production) throw new ControlError('refused', 'the clock cannot be advanced with NODE_ENV=production')
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > LARGEST_ADVANCE_S) {
    throw new ControlError('invalid', `seconds must be a whole number from 1 to ${LARGEST_ADVANCE_S}`)
  }
  const offset = await change(operator, async (tx) => {
    const { rows } = await tx.query<{ offset_ms: number }>(ADVANCE, [seconds * 1000])
    return rows[0]?.offset_ms ?? 0
  })
  return {
    environment: 'sandbox',
    advanced_seconds: seconds,
    offset_seconds: Math.round(offset / 1000),
    now: isoTime(operator.clock.machine() + offset),
  }
}
