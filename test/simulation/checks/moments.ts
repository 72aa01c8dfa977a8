/**
 * What is true at every moment, whatever is under way: each statement looks at one snapshot, so each finds what one
 * transaction leaves undone for another.
 */
import type { Database } from '../../../runtime/database/database.ts'
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import { fail } from './must.ts'

interface Rule {
  /** What a row that is found tells. */
  readonly what: string
  /** Finds rows that are wrong. `$schema` is the one of an environment. */
  readonly text: string
}

const RULES: readonly Rule[] = [
  {
    what: 'a payout and its USDC transfer tell different things',
    text: `SELECT p.id, p.status, c.state, c.confirmations, p.confirmations AS told, c.hash, p.transaction_hash
             FROM $schema.payouts p JOIN $schema.chain_transfers c ON c.tenant_id = p.tenant_id AND c.id = p.id
            WHERE c.state <> ALL (CASE p.status WHEN 'pending' THEN ARRAY['queued', 'signing'] WHEN 'canceled' THEN ARRAY['withdrawn']
                                  ELSE ARRAY[p.status] END)
               OR c.hash IS DISTINCT FROM p.transaction_hash OR c.confirmations <> p.confirmations
               OR c.failure_code IS DISTINCT FROM p.failure_code OR c.amount <> p.amount`,
  },
  {
    what: 'a USDC transfer waits without being held up, or is due without waiting',
    text: `SELECT c.id, c.state, c.due, c.held_up_since, c.problem FROM $schema.chain_transfers c
            WHERE (c.problem IS NULL) <> (c.held_up_since IS NULL) OR (c.problem IS NOT NULL AND c.due IS NULL)
               OR (c.state IN ('queued', 'signing') AND c.due IS NULL) OR (c.state IN ('paid', 'failed', 'withdrawn') AND c.due IS NOT NULL)`,
  },
  {
    what: 'a payout and its bank transfer tell different things',
    text: `SELECT p.id, p.status, b.state FROM $schema.payouts p
             JOIN $schema.bank_transfers b ON b.tenant_id = p.tenant_id AND b.id = p.id
            WHERE p.status <> ALL (CASE b.state WHEN 'queued' THEN ARRAY['pending', 'canceled'] WHEN 'paid' THEN ARRAY['paid']
                                   WHEN 'ended' THEN ARRAY['paid', 'failed', 'returned', 'canceled'] ELSE ARRAY['in_transit'] END)`,
  },
  {
    what: 'a bank transfer is held up without a reason, or a reason is left',
    text: `SELECT b.id, b.state, b.due, b.failures, b.problem, b.held_up_since FROM $schema.bank_transfers b
            WHERE b.state <> 'ended' AND ((b.failures > 0) <> (b.held_up_since IS NOT NULL) OR (b.failures > 0) <> (b.problem IS NOT NULL))
               OR (b.due IS NULL) <> (b.state = 'ended') OR (b.token IS NOT NULL AND b.due IS NULL)
               OR (b.state IN ('sent', 'paid') AND b.bank_id IS NULL) OR (b.state = 'paid' AND b.paid_at IS NULL)`,
  },
  {
    what: 'an account is not the sum of its entries',
    text: `SELECT a.tenant_id, a.id, a.balance, a.version, e.sum, e.count FROM $schema.ledger_accounts a
             LEFT JOIN (SELECT tenant_id, account_id, sum(amount) AS sum, count(*) AS count FROM $schema.ledger_entries GROUP BY 1, 2) AS e
               ON e.tenant_id = a.tenant_id AND e.account_id = a.id
            WHERE a.balance <> coalesce(e.sum, 0) OR a.version <> coalesce(e.count, 0)`,
  },
  {
    what: 'money was made or lost',
    text: 'SELECT tenant_id, sum(balance) AS sum FROM $schema.ledger_accounts GROUP BY 1 HAVING sum(balance) <> 0',
  },
  {
    what: 'what is held is not the sum of the open holds',
    text: `SELECT a.tenant_id, a.held FROM $schema.ledger_accounts a WHERE a.id = 'program_funds' AND a.held <> (
             SELECT coalesce(sum(h.amount), 0) FROM $schema.ledger_holds h
              WHERE h.tenant_id = a.tenant_id
                AND NOT EXISTS (SELECT FROM $schema.ledger_resolutions r WHERE r.tenant_id = h.tenant_id AND r.hold_id = h.id))`,
  },
  {
    what: 'what is on its way is not the sum of the payouts that are under way',
    text: `SELECT a.tenant_id, a.balance FROM $schema.ledger_accounts a WHERE a.id = 'payout_in_transit' AND a.balance <> (
             SELECT coalesce(sum(p.amount), 0) FROM $schema.payouts p
              WHERE p.tenant_id = a.tenant_id AND p.status IN ('pending', 'in_transit'))`,
  },
  {
    what: 'more was paid out than was payable',
    text: `SELECT a.tenant_id, a.balance FROM $schema.ledger_accounts a WHERE a.id = 'settlement_payable' AND a.balance < 0`,
  },
  {
    what: 'a settlement is not the sum of its lines',
    text: `SELECT s.id, s.net_amount, s.lines_count FROM $schema.settlements s
             LEFT JOIN (SELECT tenant_id, settlement_id, sum(amount) AS net, count(*) AS count FROM $schema.settlement_lines GROUP BY 1, 2) AS l
               ON l.tenant_id = s.tenant_id AND l.settlement_id = s.id
            WHERE s.net_amount <> coalesce(l.net, 0) OR s.lines_count <> coalesce(l.count, 0)`,
  },
  {
    what: 'a default destination cannot be paid',
    text: `SELECT f.destination_id, d.status FROM $schema.payout_defaults f
             JOIN $schema.payout_destinations d ON d.tenant_id = f.tenant_id AND d.id = f.destination_id
            WHERE d.status NOT IN ('inactive', 'active')`,
  },
]

const PAYMENT_RULES: readonly Rule[] = [
  {
    what: 'a payout has two payments',
    text: `SELECT environment, transfer_id FROM control.chain_payments WHERE state <> 'displaced' GROUP BY 1, 2 HAVING count(*) > 1`,
  },
  {
    what: 'a payment is held up without a reason, or after its end',
    text: `SELECT transfer_id, state, problem, held_up_since, decision FROM control.chain_payments
            WHERE held_up_since IS NOT NULL AND (problem IS NULL OR state <> 'open') OR decision IS NOT NULL AND held_up_since IS NULL`,
  },
  {
    what: 'a rejected payment fails at another time than it says',
    text: `SELECT transfer_id, problem, valid_before FROM control.chain_payments
            WHERE problem LIKE 'the contract rejected the transfer; %'
              AND problem NOT LIKE '%after ' || to_char(to_timestamp(valid_before) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS') || '.000Z'`,
  },
  {
    what: 'a payment is not stored with a transaction, or the next nonce is used',
    text: `SELECT p.transfer_id, p.nonce FROM control.chain_payments p
            WHERE p.chain_id <> 1 AND (
                  NOT EXISTS (SELECT FROM control.chain_transactions t WHERE t.chain_id = p.chain_id AND t.signer = p.signer AND t.nonce = p.nonce)
               OR p.nonce >= (SELECT s.next_nonce FROM control.chain_signers s WHERE s.chain_id = p.chain_id AND s.address = p.signer))`,
  },
]

/** @param control reads all schemas. */
export async function momentIsRight(control: Database): Promise<void> {
  const inAll = ENVIRONMENTS.flatMap((environment) =>
    RULES.map(({ what, text }) => ({ what, text: text.replaceAll('$schema', environment) })),
  )
  for (const { what, text } of [...inAll, ...PAYMENT_RULES]) {
    const [row] = (await control.query<object>({ text })).rows
    if (row) fail(`${what}: ${JSON.stringify(row)}`)
  }
}

const MINUTE_MS = 60_000

/** Moments of a day, in milliseconds since it began: after each burst of actions, when most is under way. */
export const MOMENTS: readonly number[] = [0, 150, 300, 450, 600, 750].flatMap((burst) =>
  [0.3, 3, 40].map((after) => (burst + after) * MINUTE_MS),
)
