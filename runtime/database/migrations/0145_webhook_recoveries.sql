-- each environment
-- Recoveries: events of a period that are sent to one endpoint again. A worker walks the tenant's sequence in pages, twice: first it
-- counts the events, then it sends them. A row holds everything that it needs, so any node can continue at any time.

CREATE TABLE webhook_recoveries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  since timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  -- Null: what the endpoint is subscribed to.
  types text[],
  scope text NOT NULL CHECK (scope IN ('failed', 'all')),
  rate smallint NOT NULL CHECK (rate BETWEEN 1 AND 100),
  status text NOT NULL CHECK (status IN ('counting', 'running', 'completed', 'canceled')),
  total bigint NOT NULL DEFAULT 0,
  sent bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  -- Numbers of the tenant's sequence: before the first event, of the last one, and of the last one that the current walk reached.
  before bigint NOT NULL,
  last bigint NOT NULL,
  reached bigint NOT NULL,
  -- Attempts that were queued and are not counted yet: at most one batch.
  queued text[] NOT NULL DEFAULT '{}',
  -- Earliest time of the next batch, by the clock of the database.
  next_at timestamptz NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX webhook_recoveries_by_status ON webhook_recoveries (tenant_id, endpoint_id, status, created, id);
CREATE UNIQUE INDEX webhook_recoveries_open ON webhook_recoveries (tenant_id, endpoint_id)
  WHERE status IN ('counting', 'running');
CREATE INDEX webhook_recoveries_by_next ON webhook_recoveries (next_at) WHERE status IN ('counting', 'running');
