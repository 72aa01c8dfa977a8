-- each environment
-- Which changes between versions made a difference to requests of a tenant, by day of service time. Added up in batches after the answers.

CREATE TABLE touched_changes (
  tenant_id text COLLATE "C" NOT NULL,
  -- In which the requests were answered.
  version text COLLATE "C" NOT NULL,
  day date NOT NULL,
  -- Under the version that brought it: 2026-05-19/block-categories.
  change text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  -- Of these, requests that named their version themselves: a pin does not concern them.
  named bigint NOT NULL,
  -- Of the last one: service time, identifier, operation.
  last_at timestamptz(3) NOT NULL,
  last_request text NOT NULL,
  last_operation text NOT NULL,
  PRIMARY KEY (tenant_id, version, day, change)
);

-- For the sweep.
CREATE INDEX touched_changes_by_day ON touched_changes (day);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE touched_changes ALTER COLUMN tenant_id SET (n_distinct = 20);
