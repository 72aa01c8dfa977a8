-- each environment
-- What card use of a day comes to, line by line, and the clock by which days end.

-- How far a tenant's settlement clock is ahead of the service's. Whoever opens, moves or settles a settlement locks it first.
CREATE TABLE settlement_clocks (
  tenant_id text COLLATE "C" NOT NULL,
  offset_ms bigint NOT NULL CHECK (offset_ms >= 0),
  PRIMARY KEY (tenant_id)
);
-- The few tenants whose holds and settlements are due earlier than by the service clock.
CREATE INDEX settlement_clocks_ahead ON settlement_clocks (tenant_id) WHERE offset_ms > 0;

-- Times are the settlement clock's.
CREATE TABLE settlements (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('open', 'pending', 'processing', 'settled', 'failed')),
  currency text NOT NULL DEFAULT 'usd',
  period_start timestamptz(3) NOT NULL,
  period_end timestamptz(3) NOT NULL,
  -- Cents: sums of the lines, kept as these are written.
  transaction_amount bigint NOT NULL DEFAULT 0,
  interchange_amount bigint NOT NULL DEFAULT 0,
  fees_amount bigint NOT NULL DEFAULT 0,
  net_amount bigint NOT NULL DEFAULT 0,
  lines_count bigint NOT NULL DEFAULT 0,
  payout_id text COLLATE "C",
  -- When it moves on; null once it is settled.
  due timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((due IS NULL) = (status = 'settled'))
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

-- Each day has one, and one at a time takes lines.
CREATE UNIQUE INDEX settlements_by_day ON settlements (tenant_id, period_start);
CREATE UNIQUE INDEX settlements_open ON settlements (tenant_id) WHERE status = 'open';
-- One for each list, as 0006 says: of several statuses it merges walks.
CREATE INDEX settlements_by_time ON settlements (tenant_id, created, id);
CREATE INDEX settlements_by_status ON settlements (tenant_id, status, created, id);
-- For the sweep of what moves on, of everybody and of one tenant.
CREATE INDEX settlements_due ON settlements (due) WHERE due IS NOT NULL;
CREATE INDEX settlements_next ON settlements (tenant_id, due, id) WHERE due IS NOT NULL;

CREATE TABLE settlement_lines (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Null for nobody: a line whose settlement is closed meanwhile fails by it.
  settlement_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL CHECK (type IN (
    'card_transaction', 'card_refund', 'interchange', 'network_fee', 'dispute', 'dispute_reversal', 'program_funding', 'adjustment')),
  -- Cents, with the tenant's sign.
  amount bigint NOT NULL,
  source_id text COLLATE "C",
  ledger_entry_id text COLLATE "C" NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
-- No two begin alike: each walk has one index only that it can go along.
CREATE INDEX settlement_lines_by_time ON settlement_lines (tenant_id, settlement_id, created, id);
CREATE INDEX settlement_lines_by_type ON settlement_lines (tenant_id, type, settlement_id, created, id);
CREATE INDEX settlement_lines_by_source ON settlement_lines (tenant_id, source_id, settlement_id, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE settlement_clocks ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE settlements ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE settlement_lines ALTER COLUMN tenant_id SET (n_distinct = 20);
