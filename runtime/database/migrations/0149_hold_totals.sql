-- each environment
-- What open holds add up to at the ends of hours, which a worker keeps from holds and their resolutions.

CREATE TABLE ledger_hold_totals (
  tenant_id text COLLATE "C" NOT NULL,
  -- End of an hour with holds or resolutions, in UTC, by service time.
  until timestamptz(3) NOT NULL,
  -- Cents in holds that were placed before, and not resolved before.
  held bigint NOT NULL,
  PRIMARY KEY (tenant_id, until)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE ledger_hold_totals ALTER COLUMN tenant_id SET (n_distinct = 20);
