-- each environment
-- Totals of each day, which a worker keeps from the tenant's events and its ledger.

CREATE TABLE daily_totals (
  tenant_id text COLLATE "C" NOT NULL,
  -- In UTC, by service time.
  day date NOT NULL,
  -- An event type, or card_spending, card_refunds or balance.
  kind text COLLATE "C" NOT NULL,
  -- The reason code of declined authorizations, the merchant category of spending and refunds; otherwise empty.
  label text COLLATE "C" NOT NULL,
  -- Events or ledger entries.
  count bigint NOT NULL,
  -- Cents. Of balance: the balance of program_funds at the end of the day.
  amount bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, kind, label)
) WITH (fillfactor = 70); -- rows change in their pages

-- How far the totals of a tenant go. Totals and position change in one transaction.
CREATE TABLE totals_cursors (
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- The last event, and the last entry of program_funds, that the totals include.
  sequence bigint NOT NULL,
  ledger_version bigint NOT NULL,
  -- Machine time of the last change.
  updated timestamptz(3) NOT NULL
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE daily_totals ALTER COLUMN tenant_id SET (n_distinct = 20);
