-- each environment
-- Money on its way to tenants.

CREATE TABLE payouts (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Cents.
  amount bigint NOT NULL CHECK (amount > 0),
  currency text NOT NULL CHECK (currency IN ('usdc', 'usd')),
  destination_id text COLLATE "C" NOT NULL,
  -- The settlement that made it by itself.
  settlement_id text COLLATE "C",
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('pending', 'in_transit', 'paid', 'failed', 'canceled', 'returned')),
  failure_code text,
  -- CAIP-2.
  chain_id text,
  transaction_hash text,
  confirmations integer NOT NULL DEFAULT 0,
  arrival_date date,
  -- How often the ledger was written for it: the next cause has this number.
  postings integer NOT NULL,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((failure_code IS NOT NULL) = (status IN ('failed', 'returned')))
);

-- One for each list, as 0006 says: of several values it merges walks.
CREATE INDEX payouts_by_time ON payouts (tenant_id, created, id);
CREATE INDEX payouts_by_status ON payouts (tenant_id, status, created, id);
CREATE INDEX payouts_by_destination ON payouts (tenant_id, destination_id, status, created, id);
CREATE INDEX payouts_by_settlement ON payouts (tenant_id, settlement_id, created, id) WHERE settlement_id IS NOT NULL;
-- A settlement is paid once.
CREATE UNIQUE INDEX payouts_of_settlement ON payouts (tenant_id, settlement_id) WHERE settlement_id IS NOT NULL;

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE payouts ALTER COLUMN tenant_id SET (n_distinct = 20);
