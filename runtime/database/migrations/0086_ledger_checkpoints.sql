-- each environment
-- Where intervals of reports begin and end in the ledger: remembered, so that reports that share an instant join there.

CREATE TABLE ledger_checkpoints (
  tenant_id text COLLATE "C" NOT NULL,
  -- The instant that ends one interval and begins the next; -infinity for the beginning of the ledger, which transactions lock that add one.
  at timestamptz(3) NOT NULL,
  -- For each account, the version of its last entry before the instant: {"bank": 3, "program_funds": 12}. Without a member: no entry.
  positions json NOT NULL,
  PRIMARY KEY (tenant_id, at)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE ledger_checkpoints ALTER COLUMN tenant_id SET (n_distinct = 20);
