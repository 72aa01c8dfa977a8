-- each environment
-- Snapshots of named sandboxes. Live has these tables as every environment does, and nothing in them.

CREATE TABLE sandbox_snapshots (
  -- The tenant itself, not a space.
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  sandbox_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'done')),
  -- `tenant_id` of its pages; null until the snapshot is taken.
  space text COLLATE "C",
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sandbox_snapshots_by_time ON sandbox_snapshots (tenant_id, sandbox_id, created, id);
-- What a worker is to take.
CREATE INDEX sandbox_snapshots_pending ON sandbox_snapshots (tenant_id, id) WHERE status = 'pending';

-- The rows of a snapshot as JSON, some hundred in a page. They belong to the space that they were copied from, so that copying stays
-- on one shard, but a wipe keeps them.
CREATE TABLE sandbox_snapshot_pages (
  tenant_id text COLLATE "C" NOT NULL,
  snapshot_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  page integer NOT NULL,
  rows json NOT NULL,
  PRIMARY KEY (tenant_id, snapshot_id, name, page)
);

-- A space that is being filled from a snapshot. Restored rows take their space from here.
CREATE TABLE sandbox_restores (
  tenant_id text COLLATE "C" PRIMARY KEY,
  snapshot_id text COLLATE "C" NOT NULL
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE sandbox_snapshot_pages ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE sandbox_restores ALTER COLUMN tenant_id SET (n_distinct = 20);
