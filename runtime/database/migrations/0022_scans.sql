-- each environment
-- What scanners read, whatever came of it. Partitioned by identifier as events are: what was kept long enough goes with its
-- partition.

CREATE TABLE scans (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Null where the code belongs to no pass.
  pass_id text COLLATE "C",
  mode text NOT NULL CHECK (mode IN ('verify', 'redeem')),
  result text NOT NULL
    CHECK (result IN ('accepted', 'already_redeemed', 'not_redeemable', 'expired', 'revoked', 'unknown')),
  scanner text,
  latitude double precision,
  longitude double precision,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((pass_id IS NULL) = (result = 'unknown')),
  CHECK ((latitude IS NULL) = (longitude IS NULL))
) PARTITION BY RANGE (id);
CREATE TABLE scans_default PARTITION OF scans DEFAULT;

-- One for each list, as 0006 says: of several results it merges walks.
CREATE INDEX scans_by_time ON scans (tenant_id, created, id);
CREATE INDEX scans_by_result ON scans (tenant_id, result, created, id);
CREATE INDEX scans_by_pass ON scans (tenant_id, pass_id, result, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE scans ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE scans_default ALTER COLUMN tenant_id SET (n_distinct = 20);
