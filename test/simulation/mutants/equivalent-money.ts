/** Faults in the money of the runtime that change nothing that a tenant or an operator can notice. */
import type { Equivalent } from './equivalent-entry.ts'

const of = (
  file: string,
  reason: string,
  ...whats: readonly (string | readonly [what: string, sql: string])[]
) =>
  whats.map((each): Equivalent => {
    const [what, sql] = typeof each === 'string' ? [each, undefined] : each
    return { file: `runtime/money/${file}`, what, reason, ...(sql !== undefined && { sql }) }
  })

const POLL = 'pace: the number decides only how often the worker looks'
const BATCH = 'pace: the number decides only how much one turn does; the next turn does the rest'
const EDGE = 'the two times are equal in one millisecond only, and the next poll finds the row'

export const EQUIVALENT_MONEY: readonly Equivalent[] = [
  ...of('balance/alert-job.ts', POLL, 'twice: pollMs: 1000'),
  ...of('balance/hold-totals-job.ts', POLL, 'twice: POLL_MS = 60_000'),
  ...of(
    'balance/hold-totals-job.ts',
    BATCH,
    ...['one more: HOURS = 48', '<= for: hours < HOURS', 'one more: hours += 1', 'one more: hours = 0'],
  ),
  ...of('destinations/screening-job.ts', POLL, 'twice: POLL_MS = 5000'),
  ...of('destinations/screening-job.ts', BATCH, 'one more: BATCH = 50'),
  ...of('destinations/activation.ts', BATCH, 'one more: MAX_ENDED = 100'),
  ...of('reports/job.ts', POLL, 'one more: POLL_MS = 500', 'twice: EXPIRY_POLL_MS = 60_000'),
  ...of('reports/job.ts', BATCH, 'one more: AT_ONCE = 4'),
  ...of('payouts/bank-job.ts', BATCH, 'one more: AT_ONCE = 20'),
  ...of('chain/worker.ts', BATCH, 'one more: BATCH = 48'),
  ...of(
    'chain/round.ts',
    BATCH,
    'one more: MAX_OPEN = 48',
    'one more: MAX_HELD_UP = 8',
    'one more: Math.max(0, room)',
  ),
  ...of(
    'settlements/moving.ts',
    BATCH,
    'one more: MAX_MOVES = 100',
    '<= for: count < MAX_MOVES',
    'one more: count += 1',
    'one more: count = 0',
  ),
  ...of('settlements/simulators.ts', BATCH, 'one more: MAX_HOLDS = 200'),
  ...of('ledger/history.ts', BATCH, 'twice: STEP = 2_000'),
  ...of(
    'chain/open-chains.ts',
    'pace: the same signed transaction is sent again, or signing is tried again, more or less often',
    'twice: resendMs: 15_000',
    'twice: retryMs: 5000',
  ),
  ...of(
    'chain/follow.ts',
    'in a block with exactly that time, the authorization has expired already (EIP-3009)',
    '>= for: (round.head.certain?.timestamp ?? 0) > payment.valid_before',
    '< for: (head.certain?.timestamp ?? 0) <= payment.valid_before',
  ),
  ...of('chain/follow.ts', EDGE, '> for: now - newest.sent_at >= limits.resendMs'),
  ...of('chain/follow.ts', EDGE, '> for: now - newest.signed_at >= limits.replaceMs'),
  ...of('chain/transfer-queries.ts', EDGE, ['flip <=: <=', 'c.due <= $1']),
  ...of('payouts/bank-queries.ts', EDGE, ['flip <=: <=', 'b.due <= $1']),
  ...of('destinations/queries.ts', EDGE, ['flip <=: <=', "d.status = 'inactive' AND d.active_at <= $1"]),
  ...of('destinations/queries.ts', EDGE, ['flip <=: <=', 'd.active_at <= $1::timestamptz + c.offset_ms']),
  ...of('settlement-lines/queries.ts', EDGE, ['flip <=: <=', 's.due <= $1']),
  ...of('chain/retention.ts', EDGE, 'flip <: <', 'flip >=: >='),
  ...of(
    'payouts/bank-states.ts',
    'pace: the bank is asked about a payment that it has not settled, or again after an unusable answer, more or less often',
    'twice: SETTLING_MS = 10_000',
    'twice: FIRST_PAUSE_MS = 1000',
    'one more: 5 * 60_000',
    'twice: 5 * 60_000',
    'one more: 2 ** Math.min(transfer.failures, 20)',
    'one more: Math.min(transfer.failures, 20)',
    'one more: transfer.failures + 1',
  ),
  ...of('payouts/bank-job.ts', EDGE, '>= for: transfer.due > now'),
  ...of('settlements/simulators.ts', EDGE, '< for: row.expires_at <= until'),
  ...of(
    'settlement-lines/clock.ts',
    'only the clocks of named sandboxes can be behind; for others, the statement finds 0 or more',
    'never: if (readSpace(space).sandbox === undefined)',
  ),
  ...of(
    'payouts/bank-queries.ts',
    'one millisecond after 1970 is as long ago as 1970',
    'one more: toTimestamp(0)',
  ),
  ...of(
    'payouts/bank-job.ts',
    'without due transfers, the result is an empty list whether or not payouts are held',
    '>= for: due.length > 0',
  ),
  ...of(
    'chain/start-worker.ts',
    'the statement is only asked whether there is any row',
    'one more: findDueTransfers(pools[each], now, 1)',
  ),
  ...of(
    'chain/rpc.ts',
    'each call has an HTTP request of its own, so its number only has to be the one of its answer',
    ...['one more: id = 0', 'drop: id += 1', 'one more: id += 1'],
  ),
  ...of(
    'chain/follow.ts',
    'a transaction in a block above the head that was read before has one confirmation, so both numbers are true',
    'one more: Math.max(0, head.block.number - block + 1)',
  ),
  ...of(
    'chain/token.ts',
    'Buffer.from leaves out half a byte at the end of hexadecimal digits',
    'one more: data.slice(130, 130 + length * 2)',
    'one more: 130 + length * 2',
  ),
  ...of('ledger/post.ts', 'no statement has a rank above 3, so it stays the last', 'one more: rank: 3'),
  ...of(
    'ledger/held.ts',
    'the sum of an hour is kept one poll or one hour later; until then, reads add up the rest themselves',
    'twice: SETTLED_MS = 3_600_000',
    ['flip <=: <=', 'o.until <= $2'],
    '>= for: (await db.query(ADD, [tenantId, toTimestamp(sum.until), sum.held])).co…',
    'one more: (await db.query(ADD, [tenantId, toTimestamp(sum.until), sum.held])).co…',
  ),
  ...of(
    'ledger/held.ts',
    'the statement only finds tenants that may have an hour to sum up: an hour that is not summed up is added by reads',
    ['flip <: <', 'h.created < $3'],
    ['flip <: <', 'r.created < $3'],
    ['flip >=: >=', "coalesce(t.until, '-infinity')"],
  ),
  ...of(
    'settlement-lines/queries.ts',
    'clocks that are not ahead are also found by the other statement, and moving due settlements twice moves them once',
    ['flip >: >', 'c.offset_ms > 0'],
  ),
  ...of(
    'destinations/queries.ts',
    'clocks that are not ahead are also found by the other statement, and ending waiting periods twice ends them once',
    ['flip >: >', 'c.offset_ms > 0'],
  ),
  ...of(
    'settlement-lines/queries.ts',
    'the order in which tenants get their turn; a turn takes all due settlements of its tenant',
    ['order at random: ORDER BY s.due', 'ORDER BY s.due LIMIT $2'],
  ),
  ...of(
    'settlement-lines/queries.ts',
    'the callers hold the tenant’s settlement clock; a transaction that only adds lines writes none of the columns that a move writes, apart from `updated`, which a cut-off sets to at least the time of every line',
    ['drop the lock: FOR UPDATE', 's.due IS NOT NULL ORDER BY s.due'],
    ['drop the lock: FOR UPDATE', 'ORDER BY s.period_start DESC LIMIT 1'],
    ['drop the lock: FOR UPDATE', 's.id = $2 FOR UPDATE'],
  ),
  ...of(
    'balance/entries.ts',
    'a page reads a row more than it shows, to know whether there are more; cutPage cuts any number of them',
    'one more: limit + 1',
  ),
  ...of(
    'chain/payment-queries.ts',
    'amounts in base units are multiples of 10,000, so none of them is 2^63 - 1',
    ['flip <=: <=', '$8::numeric <= 9223372036854775807'],
  ),
  ...of(
    'chain/report.ts',
    'a transaction that is repeated and then changes nothing wakes workers, which find nothing',
    'drop: told = false',
  ),
  ...of(
    'payouts/bank-job.ts',
    'a transaction that is repeated and then changes nothing wakes workers, which find nothing',
    'drop: isDue = false',
  ),
  ...of(
    'payouts/transfer-listener.ts',
    'a transaction that is repeated and then changes nothing wakes workers, which find nothing',
    'drop: isDue = false',
  ),
  ...of(
    'payouts/bank-job.ts',
    'a constraint of payout_destinations excludes a bank account that is not there, and only bank accounts get dollars',
    'never: if (!sealed)',
  ),
  ...of(
    'payouts/bank-queries.ts',
    'a constraint of bank_transfers excludes other states',
    'never: if (row && !STATES.includes(row.state))',
  ),
  ...of(
    'chain/transfer-queries.ts',
    'a constraint of chain_transfers excludes other states',
    'never: if (!STATES.includes(row.state))',
  ),
  ...of(
    'payouts/queries.ts',
    'a constraint of payouts excludes other statuses',
    'never: if (row && !filters.listPayouts.status.includes(row.status))',
  ),
  ...of(
    'payouts/bank-job.ts',
    'no payout is larger than 10^15 cents, the largest amount of an order and of a settlement, which a number holds exactly',
    "drop: requireExact(payout.amount, 'its amount')",
  ),
  ...of(
    'chain/transfer-queries.ts',
    'no payout is larger than 10^15 cents, the largest amount of an order and of a settlement, which a number holds exactly',
    "drop: requireExact(row.amount, 'its amount')",
  ),
  ...of(
    'ledger/positions.ts',
    'the search only finds a range of versions; the entry is looked for in it by its exact time',
    ['flip <: <', 'e.created < s.at'],
  ),
  ...of(
    'chain/worker.ts',
    'the search has found work just before; without work, a round only looks at the account once more',
    'never: if (due.length === 0 && accounts.length === 0)',
  ),
  ...of(
    'settlement-lines/amounts.ts',
    'nothing is refunded before the first clearing, so what was earned before is added and subtracted',
    'one more: earned: 0',
  ),
  ...of('chain/fees.ts', 'of two equal fees, either is the larger one', '>= for: one > other'),
]
