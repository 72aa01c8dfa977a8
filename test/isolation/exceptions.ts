/** Statements that are not for one tenant, or read more than they give: exactly these, each by how it begins. */

type Table = readonly (readonly [begins: string, why: string])[]

/** Statements that start without a tenant, or are for all of them. */
export const LOCATORS: Table = [
  [
    'SELECT tenant_id, id, card_id FROM provisioning_payloads p',
    'phones of the sandbox use payloads, whoever they are of',
  ],
  ['SELECT k.tenant_id, t.name, t.plan', 'a request starts with a key: its digest locates the tenant'],
  ['SELECT g.tenant_id, t.name, t.plan', 'or with an access token'],
  ['SELECT tenant_id, state, hint FROM control.tenant_moves', 'each process knows all accounts that move'],
  [
    'SELECT tenant_id, card_id, key_version, sealed FROM',
    'a new card key is for the numbers of everybody, in steps',
  ],
  ['DELETE FROM idempotency_answers WHERE ctid', 'what has run out is swept for everybody'],
  ['DELETE FROM injected_faults WHERE ctid', 'so are counts of failures that were simulated'],
  ['SELECT tenant_id, id FROM passes p WHERE status IN', 'passes whose time is over are found for everybody'],
  ['SELECT tenant_id, id FROM card_transactions t WHERE', 'so are transactions that hold for too long'],
  [
    'SELECT tenant_id, id, card_transaction_id FROM disputes d WHERE',
    'and disputes that were not submitted in time',
  ],
  [
    'SELECT c.tenant_id, c.id, c.problem, c.trace FROM chain_transfers c WHERE',
    'and transfers of USDC that are to be signed',
  ],
  [
    'SELECT f.tenant_id, f.id FROM (SELECT DISTINCT ON (r.tenant_id)',
    'reports are made and backtests performed whoever asked for them',
  ],
  [
    'SELECT r.tenant_id, r.id FROM treasury_reports r WHERE r.has_files',
    'and their files go when their time is over',
  ],
  [
    'SELECT a.tenant_id FROM ledger_accounts a LEFT JOIN LATERAL',
    'and tenants whose holds are to be added up',
  ],
  ['SELECT b.tenant_id FROM balance_alerts b LEFT JOIN', 'and tenants whose balance has crossed a threshold'],
  ['SELECT d.tenant_id FROM payout_destinations d WHERE', 'and destinations whose hold is over'],
  [
    'SELECT d.tenant_id, d.id FROM payout_destinations d WHERE',
    'or which were screened against an older list',
  ],
  ['SELECT c.tenant_id FROM settlement_clocks c WHERE', 'also of tenants whose settlement clock is ahead'],
  [
    'SELECT b.tenant_id, b.id, b.problem, b.trace FROM bank_transfers b WHERE',
    'and payouts that a bank is to be asked about',
  ],
  ['SELECT s.tenant_id FROM settlements s WHERE s.due', 'and tenants with settlements that are to move on'],
  [
    'SELECT c.tenant_id, c.offset_ms FROM settlement_clocks c',
    'also of tenants whose settlement clock is ahead',
  ],
  [
    'SELECT d.tenant_id, d.id FROM authorization_decisions d WHERE',
    'and questions that nobody ends any more',
  ],
  ['SELECT tenant_id, wiped_at FROM wiped_spaces', 'workers empty whatever space was wiped'],
  ['SELECT s.tenant_id, coalesce(greatest(', 'workers find the tenants for whom there is something to do'],
  [
    'SELECT h.tenant_id AS space, h.sequence - coalesce(c.sequence, 0) AS behind',
    'workers find the spaces that Google Wallet is to be told of',
  ],
  ['SELECT s.tenant_id FROM screenings s', 'workers find the tenants whose cardholders a new list is for'],
  [
    'WITH visit AS MATERIALIZED ( SELECT t.position, s.* FROM unnest',
    'they plan and claim for several at once',
  ],
  [
    'WITH held AS MATERIALIZED ( SELECT g.*, q.* FROM unnest',
    'successes are written in batches; each line names its tenant',
  ],
  [
    'INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created, updated) SELECT g.tenant_id',
    'so is what takes long',
  ],
  ['WITH due AS MATERIALIZED ( SELECT w.ctid', 'attempts become due whoever they are of'],
  ['SELECT w.tenant_id FROM webhook_waiting w', 'they find the tenants of whom attempts have become due'],
  [
    'SELECT v.tenant_id, v.id, v.endpoint_id FROM webhook_recoveries v',
    'they find the recoveries that can go on',
  ],
  [
    'SELECT tenant_id, id, pass_id, pass_message_batch_id FROM pass_messages m WHERE',
    'they find the messages to holders that are due',
  ],
  [
    'SELECT tenant_id, id FROM pass_message_batches b WHERE',
    'and the batches whose messages are not all queued',
  ],
  [
    'SELECT h.tenant_id FROM event_heads h LEFT JOIN totals_cursors',
    'workers find the tenants whose totals lack events',
  ],
  ['SELECT a.tenant_id FROM ledger_accounts a LEFT JOIN totals_cursors', 'or ledger entries'],
  ['SELECT c.tenant_id FROM totals_cursors c WHERE c.tenant_id > $1', 'or whose passes are not counted'],
  [
    'SELECT h.tenant_id FROM wallet_heads h LEFT JOIN',
    'workers find the tenants of whom wallets are to be told',
  ],
  ['DELETE FROM live.events_default', 'what has been kept long enough goes, whoever it is of'],
  ['DELETE FROM live.webhook_attempts_default', 'so do attempts'],
  ['DELETE FROM live.scans_default', 'and scans'],
  ['DELETE FROM tokens WHERE expires_at <= (', 'what has run out is swept for everybody'],
  ['DELETE FROM control.challenges', 'what has run out is swept for everybody'],
  ['DELETE FROM control.totp_uses', 'what has run out is swept for everybody'],
  ['DELETE FROM control.wrong_codes', 'what has run out is swept for everybody'],
  ['DELETE FROM control.passkey_challenges', 'what has run out is swept for everybody'],
  ['DELETE FROM control.sessions WHERE expires_at', 'what has run out is swept for everybody'],
  ['DELETE FROM control.invitations WHERE expires_at', 'what has run out is swept for everybody'],
  [
    'SELECT tenant_id, bucket, factor::float8 AS factor, floor(extract(epoch',
    'a worker delivers for all tenants, and reads the lifts of the few that have one',
  ],
  [
    'SELECT sandbox, setting, floor(extract(epoch FROM created)',
    'it also reads the failures of the few that simulate some',
  ],
  ['DELETE FROM control.set_aside_work WHERE retry_at', 'rows that are gone are swept for all tenants'],
  [
    'SELECT tenant_id, subject_id, retry_at FROM control.set_aside_work',
    'workers leave out the rows of all tenants',
  ],
  ['SELECT environment, work, count(*)::integer AS rows', 'the metrics count the rows of all tenants'],
  ['DELETE FROM control.oauth_artefacts WHERE expires_at', 'what has run out is swept for everybody'],
  ['DELETE FROM control.oauth_grants g', 'so are authorizations of which nothing is left'],
  ['INSERT INTO request_log', 'requests are logged in batches; each line names its tenant'],
  ['DELETE FROM request_log WHERE ctid', 'what has been kept long enough goes, whoever it is of'],
  ['DELETE FROM card_spending WHERE ctid', 'so does the spending of old days and months'],
  ['DELETE FROM daily_totals WHERE ctid', 'so do old totals'],
  ['DELETE FROM usage_counters WHERE ctid', 'and old counts of requests'],
  ['DELETE FROM touched_changes WHERE day', 'so do counts of changes that were met'],
  ['WITH batch AS ( INSERT INTO usage_batches', 'use is added up in batches; each line names its tenant'],
  ['UPDATE control.keys k SET last_used_at', 'uses of keys are noted in batches; each line names its tenant'],
]

/** Statements that go to several shards where tables are distributed by tenant: none of them is part of a request. */
export const SPREAD: Table = [
  [
    'SELECT tenant_id, id, pass_id, pass_message_batch_id FROM pass_messages m WHERE',
    'messages to holders are sent to the passes of all tenants',
  ],
  [
    'SELECT tenant_id, id FROM pass_message_batches b WHERE',
    'and batches of them are queued for all tenants',
  ],
  [
    'SELECT tenant_id, id, card_id FROM provisioning_payloads p',
    'phones of the sandbox use payloads, whoever they are of',
  ],
  [
    'SELECT tenant_id, card_id, key_version, sealed FROM',
    'a new card key is for the numbers of everybody, in steps',
  ],
  ['SELECT s.tenant_id, coalesce(greatest(', 'workers find the tenants for whom there is something to do'],
  [
    'SELECT h.tenant_id AS space, h.sequence - coalesce(c.sequence, 0) AS behind',
    'workers find the spaces that Google Wallet is to be told of',
  ],
  ['SELECT w.tenant_id FROM webhook_waiting w', 'they find the tenants of whom attempts have become due'],
  [
    'SELECT h.tenant_id FROM event_heads h LEFT JOIN totals_cursors',
    'workers find the tenants whose totals lack events',
  ],
  ['SELECT a.tenant_id FROM ledger_accounts a LEFT JOIN totals_cursors', 'or ledger entries'],
  ['SELECT c.tenant_id FROM totals_cursors c WHERE c.tenant_id > $1', 'or whose passes are not counted'],
  [
    'SELECT h.tenant_id FROM wallet_heads h LEFT JOIN',
    'workers find the tenants of whom wallets are to be told',
  ],
  ['SELECT s.tenant_id FROM screenings s', 'workers find the tenants whose cardholders a new list is for'],
  ['SELECT tenant_id, id FROM passes p WHERE status IN', 'passes whose time is over are found for everybody'],
  ['SELECT tenant_id, id FROM card_transactions t WHERE', 'so are transactions that hold for too long'],
  [
    'SELECT tenant_id, id, card_transaction_id FROM disputes d WHERE',
    'and disputes that were not submitted in time',
  ],
  [
    'SELECT c.tenant_id, c.id, c.problem, c.trace FROM chain_transfers c WHERE',
    'and transfers of USDC that are to be signed',
  ],
  [
    'SELECT f.tenant_id, f.id FROM (SELECT DISTINCT ON (r.tenant_id)',
    'reports are made and backtests performed whoever asked for them',
  ],
  [
    'SELECT r.tenant_id, r.id FROM treasury_reports r WHERE r.has_files',
    'and their files go when their time is over',
  ],
  [
    'SELECT a.tenant_id FROM ledger_accounts a LEFT JOIN LATERAL',
    'and tenants whose holds are to be added up',
  ],
  ['SELECT b.tenant_id FROM balance_alerts b LEFT JOIN', 'and tenants whose balance has crossed a threshold'],
  ['SELECT d.tenant_id FROM payout_destinations d WHERE', 'and destinations whose hold is over'],
  [
    'SELECT d.tenant_id, d.id FROM payout_destinations d WHERE',
    'or which were screened against an older list',
  ],
  ['SELECT c.tenant_id FROM settlement_clocks c WHERE', 'also of tenants whose settlement clock is ahead'],
  [
    'SELECT b.tenant_id, b.id, b.problem, b.trace FROM bank_transfers b WHERE',
    'and payouts that a bank is to be asked about',
  ],
  ['SELECT s.tenant_id FROM settlements s WHERE s.due', 'and tenants with settlements that are to move on'],
  [
    'SELECT c.tenant_id, c.offset_ms FROM settlement_clocks c',
    'also of tenants whose settlement clock is ahead',
  ],
  [
    'SELECT d.tenant_id, d.id FROM authorization_decisions d WHERE',
    'and questions that nobody ends any more',
  ],
  ['SELECT tenant_id, wiped_at FROM wiped_spaces', 'workers empty whatever space was wiped'],
  ['DELETE FROM idempotency_answers r WHERE r.created <= (', 'what has run out is swept for everybody'],
  ['DELETE FROM injected_faults r WHERE r.created <= (', 'so are counts of failures that were simulated'],
  ['DELETE FROM request_log r WHERE r.written <= (', 'and the request log'],
  ['DELETE FROM card_spending r WHERE r.period <= (', 'and the spending of old days and months'],
  ['DELETE FROM daily_totals r WHERE r.day <= (', 'and old totals'],
  ['DELETE FROM usage_counters r WHERE r.day <= (', 'and old counts of requests'],
  ['DELETE FROM touched_changes WHERE day', 'and counts of changes that were met'],
  ['INSERT INTO request_log', 'requests are logged in batches; each line names its tenant'],
  ['DELETE FROM live.events_default', 'what has been kept long enough goes, whoever it is of'],
  ['DELETE FROM live.webhook_attempts_default', 'so do attempts'],
  ['DELETE FROM live.scans_default', 'and scans'],
  ['DELETE FROM tokens WHERE expires_at <= (', 'so are tokens'],
  ['WITH batch AS ( INSERT INTO usage_batches', 'use is added up in batches; each line names its tenant'],
]

/** Statements that may read more rows than a few for each that they give. */
export const LAVISH: Table = [
  [
    'SELECT coalesce(h.sequence, 0) AS sequence, p.template_id',
    'a worker counts all passes of a tenant once',
  ],
  ['SELECT count(*) AS events, count(e.pass_move)', 'and adds later events to the counts'],
  ['SELECT k.state, sum(k.change)::bigint', 'a count also reads the events that are not added yet'],
  ['SELECT max(version) AS last', 'a draft has few versions, and a promotion reads them all'],
  ['SELECT id FROM spending_control_versions', 'the same for one of them'],
  ['SELECT r.target_id, r.version', 'and for those that a roll back restores'],
  [
    'SELECT FROM sandboxes x JOIN sandbox_snapshots s',
    'an account has ten sandboxes and fifty snapshots at most',
  ],
  ['SELECT space FROM sandbox.sandboxes WHERE tenant_id', 'the same ten sandboxes'],
  ['WITH crowded AS ( DELETE FROM control.challenges', 'a key has at most twenty open pages'],
  [
    '(SELECT id, coalesce(holder_name, holder_email, id) AS name',
    'a search looks into the content of recent records, which has no index, so that writes stay fast',
  ],
  [
    'UPDATE cardholders c SET last_screened_at',
    'it reads only the rows that it writes, but list_number has an index, so each write adds an entry to all indexes',
  ],
  [
    'SELECT s.id, s.status, s.currency, s.period_start',
    'settlements are shown with their first hundred lines',
  ],
  [
    'WITH unclaimed AS ( SELECT attempt_id FROM webhook_ready',
    'the queue: what is ready to be sent of an endpoint, or of its tenant where that is short',
  ],
  [
    'WITH outcome AS ( SELECT * FROM json_to_recordset',
    'the queue: what is ready of the lanes of an outcome',
  ],
  ['WITH result AS ( SELECT * FROM json_to_recordset', 'the queue: how endpoints react, in batches'],
  [
    'WITH visit AS MATERIALIZED ( SELECT t.position, s.* FROM',
    'the queue: it looks at the endpoints of each tenant, a hundred at most',
  ],
  [
    'SELECT coalesce(sum(s.net_amount), 0)::text AS net FROM settlements s',
    'settlements before a report, one of a tenant a day, once for each report',
  ],
  [
    'SELECT p.account_id, min(e.version) AS version FROM unnest',
    'entries about a new checkpoint, of each account ten thousand at most',
  ],
  ['WITH late AS MATERIALIZED ( SELECT e.id', 'and those that were made in the same milliseconds'],
  [
    'SELECT count(*) AS count FROM webhook_endpoints w',
    'the endpoints of the tenant, a hundred at most, before one more is made',
  ],
  [
    'SELECT w.id, coalesce(w.settled, w.since, 0) AS settled',
    'the endpoints of the tenant, before the next event of the ordered ones is queued',
  ],
  [
    'SELECT e.id, e.sequence, e.type, e.created, CASE WHEN got.by_one',
    'differences of two endpoints: a page compares the last thousand events',
  ],
  ['SELECT min(e.sequence) AS sequence, count(*) = 1000', 'and the end of these events'],
  [
    'SELECT (SELECT min(e.sequence) FROM ( SELECT n.sequence FROM events n',
    'the ends of a recovery, once for each: five thousand events around each end',
  ],
  [
    'SELECT count(*) AS count FROM ( SELECT e.id, e.sequence',
    'the size of a recovery: ten thousand events in each step',
  ],
  ['SELECT coalesce(max(n.sequence), $3) AS reached', 'the end of such a step'],
  ['INSERT INTO passes (', 'it reads no rows: each pass has an entry in every index'],
  ['SELECT coalesce( (SELECT max(p.sequence)', 'totals: the events of one step, two thousand at most'],
  ['INSERT INTO daily_totals', 'and these events and entries, which become a few totals'],
  ['SELECT t.kind, t.day, sum', 'the totals of a period, which home adds up by day'],
  ['SELECT t.kind, t.label, sum', 'and by label'],
  [
    'SELECT (SELECT count(*) FROM (SELECT FROM sanctions_alerts',
    'open tasks, a hundred of each kind at most',
  ],
  ['SELECT (SELECT min(e.created) FROM', 'the endpoints of the tenant, a hundred at most'],
  [`SELECT date_trunc('hour', a.attempted_at)`, 'the last attempts, two thousand at most, counted by hour'],
  [`SELECT date_trunc('hour', r.created)`, 'and the last requests'],
]

export function findException(table: Table, text: string): string | undefined {
  return table.find(([begins]) => text.startsWith(begins))?.[0]
}
