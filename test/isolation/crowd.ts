/** A large tenant beside many tiny ones, as tables look where plans go wrong. */
import type { Database } from '../../runtime/database/database.ts'
import type { Environment } from '../../runtime/platform/environment.ts'

/** A tenant, and what its lists can be asked for. */
export interface Crowd {
  readonly tenantId: string
  /** Instant of the first row, milliseconds; each following one is a second later. */
  readonly from: number
  /** Its passes. */
  readonly rows: number
  /** Most of the tenant's passes are of it. */
  readonly commonTemplate: string
  /** It has three passes, the oldest. */
  readonly rareTemplate: string
  /** Most of the tenant's scans are of it. */
  readonly commonPass: string
  /** It was scanned seven times. */
  readonly rarePass: string
  readonly commonEndpoint: string
  readonly commonActor: string
  readonly rareActor: string
  readonly event: string
}

/** The identifier of the row with that number: older than every real one. */
export function crowdId(prefix: string, n: number): string {
  return `${prefix}_01${n.toString(16).padStart(24, '0')}`
}

/** The same in SQL. */
const id = (prefix: string, n: string) => `'${prefix}_01' || lpad(to_hex((${n})::bigint), 24, '0')`

const AT = `to_timestamp($2::double precision / 1000 + n)`

const TEMPLATES = `INSERT INTO pass_templates
  SELECT $1, ${id('tpl', 'n')}, 'T', CASE WHEN n < 3 THEN 'coupon' ELSE 'loyalty' END,
         CASE WHEN n BETWEEN 5 AND 7 THEN 'archived' ELSE 'active' END, '{"background_color":"#1E3A5F","foreground_color":"#FFFFFF"}',
         '[]', '{"format":"qr"}', '[]', '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

// The oldest fifth is archived; what is rare stands at the old end, just behind it.
const PASSES = `INSERT INTO passes (tenant_id, id, template_id, status, fields, page_token, google_url, metadata, archived_at,
                                    expires_at, created, updated, holder_name, holder_email)
  SELECT $1, ${id('pass', 'n')},
         CASE WHEN n BETWEEN $3 / 5 AND $3 / 5 + 2 THEN ${id('tpl', '1')} ELSE ${id('tpl', '0')} END,
         CASE WHEN n < $3 / 5 THEN CASE n % 2 WHEN 0 THEN 'expired' ELSE 'redeemed' END
              WHEN n < $3 / 5 + 5 THEN 'revoked' ELSE 'issued' END,
         '{}', 'token', 'https://pay.google.com/', '{}', CASE WHEN n < $3 / 5 THEN ${AT} END,
         CASE WHEN n < $3 / 5 THEN ${AT} WHEN n % 4 = 0 THEN timestamptz '2030-01-01' END, ${AT}, ${AT},
         'Ada Moreau', 'ada@example.com'
    FROM generate_series(0, $3 - 1) n`

const SCANS = `INSERT INTO scans (tenant_id, id, pass_id, mode, result, scanner, created)
  SELECT $1, ${id('scan', 'n')}, CASE WHEN n BETWEEN 20 AND 22 THEN NULL WHEN n BETWEEN 10 AND 16 THEN ${id('pass', '1')} ELSE ${id('pass', '0')} END,
         'verify', CASE WHEN n BETWEEN 20 AND 22 THEN 'unknown' WHEN n BETWEEN 14 AND 18 THEN 'revoked' ELSE 'accepted' END, 'Door', ${AT}
    FROM generate_series(0, $3 - 1) n`

const CARDHOLDERS = `INSERT INTO cardholders (tenant_id, id, type, name, status, sanctions_status, list_number, metadata, created, updated)
  SELECT $1, ${id('chd', 'n')}, CASE WHEN n BETWEEN 10 AND 12 THEN 'company' ELSE 'individual' END, 'Ada Moreau',
         CASE WHEN n BETWEEN 11 AND 13 THEN 'inactive' ELSE 'active' END, 'clear', 1, '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const ALERTS = `INSERT INTO sanctions_alerts (tenant_id, id, cardholder_id, kind, status, list_name, entry_id, entry_hash, score,
                                               matched_fields, resolved_at, created, updated)
  SELECT $1, ${id('sal', 'n')}, CASE WHEN n BETWEEN 10 AND 12 THEN ${id('chd', '1')} ELSE ${id('chd', '2 + n')} END, 'new_match',
         CASE WHEN n BETWEEN 11 AND 13 THEN 'open' ELSE 'false_positive' END, 'Test list', n, '', 0.94, '["name"]',
         CASE WHEN n NOT BETWEEN 11 AND 13 THEN ${AT} END, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const TOKENS = `INSERT INTO tokens (tenant_id, id, type, details, expires_at, created)
  SELECT $1, ${id('tok', 'n')}, 'person', '', '2030-01-01', ${AT}
    FROM generate_series(0, $3 - 1) n`

const CONTROLS = `'{"blocked_categories": [], "blocked_countries": [], "spending_limits": [], "max_authorization_count": null}'`

const PROGRAMS = `INSERT INTO card_programs (tenant_id, id, name, kind, spending_controls, metadata, created, updated)
  SELECT $1, ${id('cprg', 'n')}, 'T', 'both', ${CONTROLS}, '{}', ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

const SHIPPING = `{"address": {"line1": "1 Quay", "line2": null, "city": "Oakland", "state": "CA", "postal_code": "94607", "country": "US"},
  "service": "standard", "status": "pending", "tracking_number": null}`

const CARDS = `INSERT INTO cards (tenant_id, id, cardholder_id, type, status, frozen, last4, exp_month, exp_year, cancellation_reason,
                                  shipping, spending_controls, metadata, created, updated)
  SELECT $1, ${id('card', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('chd', '1')} ELSE ${id('chd', '0')} END,
         CASE WHEN n BETWEEN 15 AND 18 THEN 'physical' ELSE 'virtual' END,
         CASE WHEN n BETWEEN 16 AND 19 THEN 'canceled' ELSE 'active' END, false, '4242', 6, 2030,
         CASE WHEN n BETWEEN 16 AND 19 THEN 'lost' END, CASE WHEN n BETWEEN 15 AND 18 THEN '${SHIPPING}'::json END, ${CONTROLS}, '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const MERCHANT = `json_build_object('name', 'Diner', 'category_code', CASE WHEN n BETWEEN 12 AND 14 THEN '4121' ELSE '5812' END,
  'network_id', null, 'city', null, 'country', 'US')`

// Open ones are the newest; what is rare stands at the old end.
const TRANSACTIONS = `INSERT INTO card_transactions (tenant_id, id, card_id, cardholder_id, type, status, merchant, category, currency,
    requested, authorized, held, cleared, refunded, reversed, hold_id, expires_at, cleared_at, rules, history, metadata, created, updated)
  SELECT $1, ${id('ctx', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('card', '1')} ELSE ${id('card', '0')} END,
         CASE WHEN n BETWEEN 10 AND 16 THEN ${id('chd', '1')} ELSE ${id('chd', '0')} END,
         CASE WHEN n BETWEEN 15 AND 18 THEN 'cash_withdrawal' ELSE 'purchase' END,
         CASE WHEN n BETWEEN 16 AND 19 THEN 'reversed' WHEN n > $3 - 4 THEN 'authorized' ELSE 'cleared' END,
         ${MERCHANT}, CASE WHEN n BETWEEN 12 AND 14 THEN '4121' ELSE '5812' END, 'usd',
         100, 100, CASE WHEN n > $3 - 4 THEN 100 ELSE 0 END, CASE WHEN n > $3 - 4 THEN 0 ELSE 100 END, 0, 0,
         CASE WHEN n > $3 - 4 THEN ${id('ctx', 'n')} || '/1' END, CASE WHEN n > $3 - 4 THEN timestamptz '2030-01-01' END,
         CASE WHEN n > $3 - 4 THEN NULL ELSE ${AT} END, '[]', '[]', '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const DISPUTES = `INSERT INTO disputes (tenant_id, id, card_transaction_id, amount, provisional_credit, reason, status, files, metadata,
    submission_deadline, closed_at, created, updated)
  SELECT $1, ${id('dsp', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('ctx', '1')} ELSE ${id('ctx', '0')} END, 1, 0,
         CASE WHEN n BETWEEN 12 AND 14 THEN 'duplicate' ELSE 'fraudulent' END,
         CASE WHEN n BETWEEN 14 AND 18 THEN 'lost' ELSE 'withdrawn' END, '[]', '{}', ${AT}, ${AT}, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const TRANSFERS = `INSERT INTO chain_transfers (tenant_id, id, recipient, amount, state, due, created, updated)
  SELECT $1, ${id('po', 'n')}, 'eip155:31337:0x', 1, 'paid', NULL, ${AT}, ${AT}
     FROM generate_series(0, $3 - 1) n`

// The newest are held.
const DESTINATIONS = `INSERT INTO payout_destinations (tenant_id, id, type, status, address, bank_account, account, holder_name, active_at,
    metadata, created, updated)
  SELECT $1, ${id('pod', 'n')}, CASE WHEN n BETWEEN 15 AND 18 THEN 'bank_account' ELSE 'usdc_address' END,
         CASE WHEN n BETWEEN 10 AND 16 THEN 'disabled' WHEN n > $3 - 4 THEN 'inactive' ELSE 'active' END,
         CASE WHEN n NOT BETWEEN 15 AND 18 THEN 'eip155:1:0x' END, CASE WHEN n BETWEEN 15 AND 18 THEN '{}'::json END,
         CASE WHEN n BETWEEN 15 AND 18 THEN ''::bytea END, 'Ada Moreau',
         CASE WHEN n > $3 - 4 THEN timestamptz '2030-01-01' ELSE ${AT} END, '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const DEFAULTS = `INSERT INTO payout_defaults (tenant_id, destination_id)
  SELECT $1, ${id('pod', '0')} FROM generate_series(0, least($3 - 1, 0)) n WHERE ${AT} > '-infinity'`

const PAYOUTS = `INSERT INTO payouts (tenant_id, id, amount, currency, destination_id, settlement_id, status, failure_code, postings, metadata,
    created, updated)
  SELECT $1, ${id('po', 'n')}, 1, 'usdc', CASE WHEN n BETWEEN 10 AND 16 THEN ${id('pod', '1')} ELSE ${id('pod', '0')} END,
         CASE WHEN n % 2 = 1 THEN ${id('stl', 'n')} END, CASE WHEN n BETWEEN 14 AND 18 THEN 'failed' WHEN n > $3 - 4 THEN 'pending' ELSE 'paid' END,
         CASE WHEN n BETWEEN 14 AND 18 THEN 'rejected' END, 2, '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const BANK_TRANSFERS = `INSERT INTO bank_transfers (tenant_id, id, state, due)
  SELECT $1, ${id('po', 'n')}, CASE WHEN n > $3 - 4 THEN 'paid' ELSE 'ended' END, CASE WHEN n > $3 - 4 THEN ${AT} + interval '10 years' END
    FROM generate_series(0, $3 - 1) n`

// One is waiting to be tried again; each day is a second long.
const SETTLEMENTS = `INSERT INTO settlements (tenant_id, id, status, period_start, period_end, due, created, updated)
  SELECT $1, ${id('stl', 'n')}, CASE WHEN n = 10 THEN 'failed' WHEN n BETWEEN 14 AND 16 THEN 'pending' ELSE 'settled' END, ${AT}, ${AT},
         CASE WHEN n = 10 OR n BETWEEN 14 AND 16 THEN timestamptz '2030-01-01' END, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const LINES = `INSERT INTO settlement_lines (tenant_id, id, settlement_id, type, amount, source_id, ledger_entry_id, created)
  SELECT $1, ${id('sln', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('stl', '1')} ELSE ${id('stl', '0')} END,
         CASE WHEN n BETWEEN 20 AND 22 THEN 'dispute' WHEN n % 20 = 6 THEN 'card_refund' ELSE 'card_transaction' END, 1,
         CASE WHEN n BETWEEN 14 AND 22 THEN ${id('ctx', '1')} ELSE ${id('ctx', 'n')} END, ${id('len', 'n')}, ${AT}
    FROM generate_series(0, $3 - 1) n`

/** The sum of the first entries. */
const sumOf = (count: string) => `${count} - 2 * least(greatest(${count} - 15, 0), 4)`

// Ten seconds apart.
const ENTRIES = `INSERT INTO ledger_entries (tenant_id, id, cause, account_id, amount, previous, current, version, created)
  SELECT $1, ${id('len', 'n')}, CASE WHEN n BETWEEN 14 AND 16 THEN ${id('ctx', '1')} ELSE ${id('ctx', 'n')} END || '/' || n, 'settlement_payable',
         CASE WHEN n BETWEEN 15 AND 18 THEN -1 ELSE 1 END, ${sumOf('n')}, ${sumOf('(n + 1)')}, n + 1, ${AT} + n * interval '9 seconds'
    FROM generate_series(0, $3 - 1) n`

const ACCOUNTS = `INSERT INTO ledger_accounts (tenant_id, id, balance, held, version)
  SELECT $1, 'settlement_payable', ${sumOf('$3::integer')}, 0, $3 FROM generate_series(0, 0) n WHERE ${AT} > '-infinity'`

const PAYLOADS = `INSERT INTO provisioning_payloads (tenant_id, id, card_id, wallet, last4, awaiting, created)
  SELECT $1, ${id('ppl', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('card', '1')} ELSE ${id('card', '0')} END,
         'google_pay', '4242', false, ${AT}
    FROM generate_series(0, $3 - 1) n`

const WALLET_TOKENS = `INSERT INTO wallet_tokens (tenant_id, id, card_id, wallet, status, created, updated)
  SELECT $1, ${id('wtk', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('card', '1')} ELSE ${id('card', '0')} END,
         'google_pay', 'active', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const DECISIONS = `INSERT INTO authorization_decisions (tenant_id, id, card_transaction_id, status, created, updated, use, default_action, stand_in_reason, due)
  SELECT $1, ${id('azd', 'n')}, CASE WHEN n BETWEEN 10 AND 16 THEN ${id('ctx', '1')} ELSE ${id('ctx', '0')} END,
         CASE WHEN n BETWEEN 14 AND 18 THEN 'timed_out' WHEN n > $3 - 4 THEN 'pending' ELSE 'responded' END, ${AT}, ${AT}, '{}', 'approve',
         CASE WHEN n BETWEEN 14 AND 18 THEN 'timed_out' END, CASE WHEN n > $3 - 4 THEN timestamptz '2030-01-01' END
    FROM generate_series(0, $3 - 1) n`

const REPORTS = `INSERT INTO treasury_reports (tenant_id, id, type, interval_start, interval_end, currency, version, status, result, expires_at,
    has_files, created, updated)
  SELECT $1, ${id('trp', 'n')}, 'ledger_entries', ${AT}, ${AT}, 'usd', '2026-05-19', 'succeeded',
         '{"files":[],"row_count":0,"opening":0,"closing":0}', '2099-01-01', true, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const PROMOTIONS = `INSERT INTO promotions (tenant_id, id, resource_type, dry_run, plan, copies, digests, created)
  SELECT $1, ${id('prm', 'n')}, 'pass_template', false, '[]', '[]', '[]', ${AT} FROM generate_series(0, $3 - 1) n`

const SANDBOXES = `INSERT INTO sandboxes (tenant_id, id, name, space, created, updated)
  SELECT $1, ${id('sbx', 'n')}, '', $1 || '.s' || n, ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

const SNAPSHOTS = `INSERT INTO sandbox_snapshots (tenant_id, id, sandbox_id, name, status, created, updated)
  SELECT $1, ${id('snap', 'n')}, ${id('sbx', '0')}, '', 'done', ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

const PROMOTED = `INSERT INTO promoted_objects (tenant_id, sandbox_id, live_id, promotion_id)
  SELECT $1, ${id('tpl', 'n')}, ${id('tpl', 'n')}, ${id('prm', 'n')} FROM generate_series(0, $3 - 1) n WHERE ${AT} > '-infinity'`

const PIECES = `INSERT INTO treasury_report_pieces (tenant_id, report_id, format, position, content)
  SELECT $1, ${id('trp', 'n')}, 'csv', 0, '' FROM generate_series(0, $3 - 1) n WHERE ${AT} > '-infinity'`

const EVENTS = `INSERT INTO events (tenant_id, id, sequence, type, version, body, created)
  SELECT $1, ${id('evt', 'n')}, n + 1, CASE WHEN n BETWEEN 10 AND 12 THEN 'pass.revoked' ELSE 'pass.created' END,
         '2026-05-19',
         json_build_object('id', ${id('evt', 'n')}, 'object', 'event', 'type', 'pass.created', 'version', '2026-05-19', 'emitted_at', ${AT}, 'created', ${AT}, 'data', '{}'::json),
         ${AT}
    FROM generate_series(0, $3 - 1) n`

const ENDPOINTS = `INSERT INTO webhook_endpoints (tenant_id, id, url, enabled_events, status, disabled_reason, secret, metadata, created, updated)
  SELECT $1, ${id('whe', 'n')}, 'https://example.com/', '{pass.scanned}', CASE WHEN n < 90 THEN 'disabled' ELSE 'enabled' END,
         CASE WHEN n < 90 THEN 'manual' END, '', '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const RECOVERIES = `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, scope, rate, status, before, last, reached, next_at, created, updated)
  SELECT $1, ${id('whr', 'n')}, ${id('whe', '0')}, ${AT}, ${AT}, 'failed', 25, 'completed', 0, 0, 0, ${AT}, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const ATTEMPTS = `INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created, updated)
  SELECT $1, ${id('wdla', 'n')}, ${id('whe', '0')}, ${id('evt', 'n')}, 1,
         CASE WHEN n BETWEEN 10 AND 12 THEN 'failed' ELSE 'succeeded' END, 'schedule', ${AT}, ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const AUDIT = `INSERT INTO audit_log (tenant_id, sequence, hash, previous_hash, created, id, environment, actor_type, actor_id,
                                      action, target_id, outcome, request_id, ip, version)
  SELECT $1, n + 1, '', CASE WHEN n > 0 THEN ''::bytea END, ${AT}, ${id('aud', 'n')}, 'sandbox', 'key',
         CASE WHEN n BETWEEN 10 AND 12 THEN 'key_rare' ELSE 'key_common' END,
         CASE WHEN n BETWEEN 20 AND 22 THEN 'pass.revoked' ELSE 'pass.created' END, ${id('pass', 'n / 2')}, 'succeeded', 'req', '127.0.0.1',
         '2026-05-19'
    FROM generate_series(0, $3 - 1) n`

const ANSWERS = `INSERT INTO idempotency_answers (tenant_id, key, fingerprint, status, body, head, created)
  SELECT $1, gen_random_uuid(), '', 201, '{}', '2026-05-19', ${AT} FROM generate_series(0, $3 - 1) n`

const REQUESTS = `INSERT INTO request_log (tenant_id, id, created, written, method, target, path, operation, version, status, key_id,
                                        address, ms)
  SELECT $1, ${id('req', 'n')}, ${AT}, ${AT}, 'GET', '/v1/passes',
         CASE WHEN n BETWEEN 10 AND 12 THEN '/v1/me' ELSE '/v1/passes' END, 'listPasses', '2026-05-19',
         CASE WHEN n BETWEEN 14 AND 16 THEN '404' ELSE '200' END,
         CASE WHEN n BETWEEN 18 AND 20 THEN 'key_rare' ELSE 'key_common' END, '::1', 1
    FROM generate_series(0, $3 - 1) n`

// Each day has the balance, counts of passes and authorizations, decline reasons, and a hundred and seventy categories.
const TOTALS = `INSERT INTO daily_totals (tenant_id, day, kind, label, count, amount)
  SELECT $1, to_timestamp($2::double precision / 1000)::date + 15 - (n / 200)::int,
         CASE n % 200 WHEN 0 THEN 'balance' WHEN 1 THEN 'pass.created' WHEN 2 THEN 'pass.installed' WHEN 3 THEN 'pass.uninstalled'
              WHEN 4 THEN 'card.transaction.authorized'
              ELSE CASE WHEN n % 200 < 30 THEN 'card.transaction.declined' ELSE 'card_spending' END END,
         CASE WHEN n % 200 < 5 THEN '' ELSE (5000 + n % 200)::text END, 1 + n % 7, 100 * (1 + n % 13)
    FROM generate_series(0, $3 - 1) n`

// Nobody sends what waits here: it is not ready.
const REGISTRATIONS = `INSERT INTO apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
  SELECT $1, 'device-' || lpad((n / 2)::text, 8, '0'), ${id('pass', 'n')}, ${id('tpl', '0')}, lpad(to_hex(n / 2), 64, '0'), 0, ${AT}
    FROM generate_series(0, $3 - 1) n`

const UPDATES = `INSERT INTO wallet_updates (tenant_id, platform, target, since, ready_at)
  SELECT $1, 'apple', 'device-' || lpad(n::text, 8, '0'), ${AT}, '2099-01-01' FROM generate_series(0, $3 - 1) n`

const CHANGES = `INSERT INTO wallet_changes (tenant_id, platform, subject_type, subject_id, since, steps)
  SELECT $1, CASE WHEN $3 > 100 THEN 'apple' ELSE 'google' END, 'pass', ${id('pass', 'n')}, ${AT}, 1000 FROM generate_series(0, $3 - 1) n`

const REFUSALS = `INSERT INTO google_refusals (tenant_id, target_id, status, message, refused_at)
  SELECT $1, ${id('pass', 'n')}, 400, 'no', ${AT} FROM generate_series(0, $3 - 1) n`

// The tenant's own beginning makes way.
const HEADS = [
  'DELETE FROM audit_log WHERE tenant_id = $1',
  'DELETE FROM audit_heads WHERE tenant_id = $1',
  `INSERT INTO event_heads SELECT $1, $2`,
  `INSERT INTO audit_heads SELECT $1, $2, '', ''`,
  'INSERT INTO wallet_heads SELECT $1, 0',
  `INSERT INTO webhook_senders (tenant_id, tokens, refilled_at) SELECT $1, 0, 'epoch'`,
]

const SPENDING_CONTROL_DRAFTS = `INSERT INTO spending_control_drafts
  SELECT $1, ${id('scd', 'n')}, 'T', NULL, NULL, CASE WHEN n BETWEEN 10 AND 12 THEN 'archived' ELSE 'draft' END, 1, ${CONTROLS}, '{}', ${AT}, ${AT}
    FROM generate_series(0, $3 - 1) n`

const CONTROL_VERSIONS = `INSERT INTO spending_control_versions
  SELECT $1, ${id('scv', 'n')}, ${id('scd', '0')}, n + 1, ${CONTROLS}, ${AT} FROM generate_series(0, $3 - 1) n`

const SHADOW_TOTALS = `INSERT INTO spending_control_shadow_totals
  SELECT $1, ${id('scd', 'n / 1000')} || '/1', ${id('card', 'n')}, 'same', '', 1, 100 FROM generate_series(0, $3 - 1) n WHERE ${AT} IS NOT NULL`

const REPLACEMENTS = `INSERT INTO spending_control_replacements
  SELECT $1, ${id('scd', 'n / 1000')}, ${id('card', 'n')}, 1 FROM generate_series(0, $3 - 1) n WHERE ${AT} IS NOT NULL`

const BACKTESTS = `INSERT INTO spending_control_backtests (tenant_id, id, spending_control_draft_id, version, spending_controls, interval_start, interval_end,
    status, progress, created, updated)
  SELECT $1, ${id('scb', 'n')}, CASE WHEN n BETWEEN 10 AND 12 THEN ${id('scd', '1')} ELSE ${id('scd', '0')} END, 1, ${CONTROLS}, 'epoch', ${AT},
         'succeeded', 100, ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

const FLIPS = `INSERT INTO spending_control_flips (tenant_id, id, backtest_id, card_transaction_id, card_id, change, code, amount, created)
  SELECT $1, ${id('scf', 'n')}, ${id('scb', 'n / 1000')}, ${id('ctx', 'n')}, ${id('card', '0')}, 'approved_to_declined', 'spending_limit_exceeded',
         100, ${AT} FROM generate_series(0, $3 - 1) n`

const PASS_MESSAGE_BATCHES = `INSERT INTO pass_message_batches
  SELECT $1, ${id('pmb', 'n')}, '{}', 'T', 'T', '{}', NULL, NULL, CASE WHEN n BETWEEN 10 AND 12 THEN 'canceled' ELSE 'completed' END,
         n, n, 0, NULL, NULL, ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

const PASS_MESSAGES = `INSERT INTO pass_messages
  SELECT $1, ${id('pmg', 'n')}, CASE WHEN n BETWEEN 10 AND 12 THEN ${id('pass', '1')} ELSE ${id('pass', '0')} END,
         ${id('pmb', 'n / 1000')}, 'T', 'T', '{}', NULL, NULL, CASE WHEN n BETWEEN 10 AND 12 THEN 'skipped' ELSE 'sent' END, NULL, ${AT}, NULL,
         false, false, ${AT}, ${AT} FROM generate_series(0, $3 - 1) n`

/** Every table: what fills it, and its share of the rows. */
const TABLES = [
  [TEMPLATES, 1 / 15],
  [PASSES, 1],
  [SCANS, 1 / 3],
  [CARDHOLDERS, 1 / 3],
  [ALERTS, 1 / 3],
  [TOKENS, 1 / 3],
  [PROGRAMS, 1 / 15],
  [CARDS, 1 / 3],
  [TRANSACTIONS, 1 / 3],
  [DISPUTES, 1 / 3],
  [TRANSFERS, 1 / 3],
  [DESTINATIONS, 1 / 3],
  [DEFAULTS, 1 / 3],
  [PAYOUTS, 1 / 3],
  [REPORTS, 1 / 3],
  [PIECES, 1 / 3],
  [PROMOTIONS, 1 / 3],
  [SANDBOXES, 1 / 3],
  [SNAPSHOTS, 1 / 3],
  [PROMOTED, 1 / 3],
  [BANK_TRANSFERS, 1 / 3],
  [DECISIONS, 1 / 3],
  [SETTLEMENTS, 1 / 3],
  [LINES, 1 / 3],
  [ENTRIES, 1 / 3],
  [ACCOUNTS, 1 / 3],
  [PAYLOADS, 1 / 3],
  [WALLET_TOKENS, 1 / 3],
  [EVENTS, 1 / 3],
  [ENDPOINTS, 0],
  [ATTEMPTS, 1 / 3],
  [RECOVERIES, 1 / 3],
  [AUDIT, 1 / 3],
  [ANSWERS, 1 / 3],
  [REQUESTS, 1 / 3],
  [TOTALS, 1 / 3],
  [REGISTRATIONS, 1],
  [UPDATES, 1 / 3],
  [CHANGES, 1 / 3],
  [REFUSALS, 1 / 3],
  [SPENDING_CONTROL_DRAFTS, 1 / 3],
  [CONTROL_VERSIONS, 1 / 3],
  [BACKTESTS, 1 / 3],
  [FLIPS, 1 / 3],
  [PASS_MESSAGE_BATCHES, 1 / 3],
  [PASS_MESSAGES, 1 / 3],
  [SHADOW_TOTALS, 1 / 3],
  [REPLACEMENTS, 1 / 3],
] as const

/** Their names. */
export const FILLED = TABLES.map(([text]) => /INTO (\w+)/.exec(text)![1]!)

/** As many as a tenant may have, nearly. */
const ENDPOINTS_OF_ONE = 92

/** Rows of a table where the tenant has so many passes. */
const share = (rows: number, part: number) =>
  part === 0 ? ENDPOINTS_OF_ONE : Math.max(3, Math.round(rows * part))

/** Rows of the kind that a tenant with so many passes has. */
export function rowsOf(prefix: string, rows: number): number {
  if (prefix === 'pass') return rows
  if (prefix === 'tpl' || prefix === 'cprg') return share(rows, 1 / 15)
  return prefix === 'whe' ? ENDPOINTS_OF_ONE : share(rows, 1 / 3)
}

export interface Sizes {
  /** Passes of the large tenant. */
  readonly rows: number
  /** Tenants beside it. */
  readonly tenants: number
  /** Passes of each of those. */
  readonly each: number
  /** The other tables of the large tenant have a share of this number of rows. Default: its passes. */
  readonly others?: number
  /** Tables that have as many rows as passes in the large tenant. */
  readonly whole?: readonly string[]
  /** The sandbox, if absent. */
  readonly environment?: Environment
}

/** Fills an environment; gives the large tenant and one of the others. */
export async function fillCrowd(
  owner: Database,
  tenantId: string,
  from: number,
  { rows, tenants, each, others = rows, whole = [], environment = 'sandbox' }: Sizes,
): Promise<{ readonly large: Crowd; readonly small: Crowd }> {
  const run = (text: string, values: readonly unknown[]) =>
    owner.query({ text: text.replace(/(INSERT INTO|DELETE FROM) /, `$1 ${environment}.`) }, values)
  for (const text of HEADS) await run(text, text.includes('$2') ? [tenantId, rows] : [tenantId])
  for (const [text, part] of TABLES) {
    const isWhole = whole.some((name) => text.includes(`INTO ${name} `))
    const most = isWhole || text === PASSES ? rows : others
    await run(text, [tenantId, from, share(most, isWhole ? 1 : part)])
    // The same for tenants that are named by a number.
    const many = text
      .replace('SELECT $1,', `SELECT 'ten_' || lpad(t::text, 26, '0'),`)
      .replace('FROM generate_series', 'FROM generate_series(1, $1::int) t, generate_series')
    await run(many, [tenants, from, part === 0 ? 1 : share(each, part)])
  }
  await owner.query({
    text: `VACUUM (ANALYZE) ${FILLED.map((name) => `${environment}.${name}`).join(', ')}`,
  })
  const crowdOf = (id: string, count: number): Crowd => ({
    tenantId: id,
    from,
    rows: count,
    commonTemplate: crowdId('tpl', 0),
    rareTemplate: crowdId('tpl', 1),
    commonPass: crowdId('pass', 0),
    rarePass: crowdId('pass', 1),
    commonEndpoint: crowdId('whe', 0),
    commonActor: 'key_common',
    rareActor: 'key_rare',
    event: crowdId('evt', 11),
  })
  return { large: crowdOf(tenantId, rows), small: crowdOf(`ten_${'1'.padStart(26, '0')}`, each) }
}
