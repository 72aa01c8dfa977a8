-- each environment
-- Named sandboxes of a tenant. Live has this table as every environment does, and nothing in it.

CREATE TABLE sandboxes (
  -- The tenant itself, not a space.
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  -- `tenant_id` of its rows from now on. A wipe changes it.
  space text COLLATE "C" NOT NULL,
  -- The snapshot that is to be restored; null: none.
  restoring text COLLATE "C",
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sandboxes_by_time ON sandboxes (tenant_id, created, id);
-- What a worker is to restore.
CREATE INDEX sandboxes_restoring ON sandboxes (tenant_id, id) WHERE restoring IS NOT NULL;
