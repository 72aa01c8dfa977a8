-- each environment
-- How far classes and objects at Google Wallet follow what happened in a tenant's space. There is no row for a pass: workers
-- read the tenant's events in their order, and send what the passes of these are then.

CREATE TABLE google_cursors (
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- Up to which number of the tenant's sequence of events Google knows.
  sequence bigint NOT NULL,
  -- Templates whose passes are sent again, and how far: [{template?, after?, again?}]; without a template all passes.
  walks json NOT NULL DEFAULT '[]',
  -- Not before; while a worker is at it the end of its lease. Machine time.
  ready_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- Of the lease; null without one.
  token uuid,
  -- Visits in a row that have left something undone.
  failures integer NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- What Google refuses of a tenant, until it takes it.
CREATE TABLE google_refusals (
  tenant_id text COLLATE "C" NOT NULL,
  -- A template or a pass.
  target_id text COLLATE "C" NOT NULL,
  -- Of the answer; 0 where there was none that could be taken.
  status smallint NOT NULL,
  message text NOT NULL,
  -- Machine time.
  refused_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, target_id)
);
