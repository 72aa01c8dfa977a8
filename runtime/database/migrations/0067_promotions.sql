-- each environment
-- Promotions from the sandbox to live, and which object of live is the copy of which one of the sandbox. The sandbox has
-- these tables as every environment does, and nothing in them.

CREATE TABLE promotions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  resource_type text NOT NULL,
  dry_run boolean NOT NULL,
  -- As the interface shows it: [{sandbox_id, live_id, action, differences, problems}]
  plan json NOT NULL,
  -- [{sandbox_id, live_id}]
  copies json NOT NULL,
  -- Of the sources as they were planned, in the order of the plan: [sha256 in hexadecimal]
  digests json NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

CREATE INDEX promotions_by_time ON promotions (tenant_id, created, id);

CREATE TABLE promoted_objects (
  tenant_id text COLLATE "C" NOT NULL,
  sandbox_id text COLLATE "C" NOT NULL,
  live_id text COLLATE "C" NOT NULL,
  promotion_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, sandbox_id)
);

-- One row a tenant, which its promotions lock one after the other.
CREATE TABLE promotion_heads (
  tenant_id text COLLATE "C" PRIMARY KEY,
  applied bigint NOT NULL
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE promotions ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE promoted_objects ALTER COLUMN tenant_id SET (n_distinct = 20);
