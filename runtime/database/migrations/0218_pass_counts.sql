-- each environment
-- Passes of each template and state, which a worker keeps from the events of the tenant.

CREATE TABLE pass_counts (
  tenant_id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  -- The stored status; after `archived_` if the pass is archived.
  state text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (tenant_id, template_id, state)
) WITH (fillfactor = 70); -- rows change in their pages

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE pass_counts ALTER COLUMN tenant_id SET (n_distinct = 20);
