-- each environment
-- Events, the endpoints that are told about them, and the deliveries to each. Events and attempts are partitioned by
-- their identifiers, which sort by time: what has been kept long enough goes by dropping a partition.

-- Where a tenant's sequence of events ends. Whoever emits locks this row, last before the end of the audit chain, so
-- that events are numbered without gaps in the order of their commits: who has read up to one has missed none before it.
CREATE TABLE event_heads (
  tenant_id text COLLATE "C" PRIMARY KEY,
  sequence bigint NOT NULL
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

CREATE TABLE events (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  type text NOT NULL,
  -- The version in which it was rendered: the one that the tenant was pinned to.
  version text NOT NULL,
  -- The bytes that every attempt sends.
  body text NOT NULL,
  -- What was rendered, in the form of head, where the version shows it in another way; null: `body` says the same.
  source json,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE events_default PARTITION OF events DEFAULT;
CREATE INDEX events_by_time ON events (tenant_id, created DESC, id DESC);
CREATE INDEX events_by_sequence ON events (tenant_id, sequence);

CREATE TABLE webhook_endpoints (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  description text,
  enabled_events text[] NOT NULL,
  status text NOT NULL CHECK (status IN ('enabled', 'disabled')),
  disabled_reason text CHECK (disabled_reason IN ('retry_exhausted', 'manual')),
  -- AES-256-GCM under a key derived from SVC_PEPPER
  secret bytea NOT NULL,
  -- Secrets from before rotations, which sign for a while longer: [{sealed: base64, until: milliseconds}]
  retired_secrets json NOT NULL DEFAULT '[]',
  metadata json NOT NULL,
  -- Moves whenever it is enabled again: what failed before that disables nothing.
  generation integer NOT NULL DEFAULT 0,
  -- Attempts in a row that ran out of time; fewer are made at once the more they are.
  timeouts smallint NOT NULL DEFAULT 0,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL))
);
CREATE INDEX webhook_endpoints_by_time ON webhook_endpoints (tenant_id, created DESC, id DESC);

CREATE TABLE webhook_attempts (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  attempt smallint NOT NULL CHECK (attempt BETWEEN 1 AND 5),
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'canceled')),
  trigger text NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  response_status smallint,
  response_body text,
  error text,
  duration_ms integer,
  scheduled_at timestamptz(3) NOT NULL,
  attempted_at timestamptz(3),
  next_attempt_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT
  WITH (fillfactor = 50); -- as in `addPartition`: room for the end of each attempt beside its beginning
CREATE INDEX webhook_attempts_by_time ON webhook_attempts (tenant_id, endpoint_id, created DESC, id DESC);

-- Attempts of the schedule that are not due yet.
CREATE TABLE webhook_waiting (
  tenant_id text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  attempt smallint NOT NULL,
  -- The attempt before this one, which tells when this one is due.
  previous_id text COLLATE "C" NOT NULL,
  -- Of the endpoint, when the attempt before this one failed: once it has moved, the series is over.
  generation integer NOT NULL,
  due_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, attempt_id)
);
CREATE INDEX webhook_waiting_by_time ON webhook_waiting (due_at);
CREATE INDEX webhook_waiting_by_endpoint ON webhook_waiting (tenant_id, endpoint_id);

-- Attempts that are due: those of an endpoint are a lane. Who works on one holds it until `lease_until` (machine time)
-- under a token, which everything that it writes afterwards names.
CREATE TABLE webhook_ready (
  tenant_id text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  attempt smallint NOT NULL,
  trigger text NOT NULL,
  -- Both as in webhook_waiting; null where nothing came before: first attempts, and those made by hand.
  previous_id text COLLATE "C",
  generation integer,
  due_at timestamptz(3) NOT NULL,
  lease_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  token uuid,
  PRIMARY KEY (tenant_id, attempt_id)
) WITH (
  -- Every row is updated once and deleted soon: scans must not wade through what is dead.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX webhook_ready_by_lane ON webhook_ready (tenant_id, endpoint_id, lease_until, due_at, attempt_id);

-- One for each tenant that has had endpoints: its bucket of attempts, and whose turn it is. The row's lock is the right
-- to claim attempts of the tenant.
CREATE TABLE webhook_senders (
  tenant_id text COLLATE "C" PRIMARY KEY,
  tokens double precision NOT NULL,
  -- Machine time.
  refilled_at timestamptz(3) NOT NULL,
  -- The lane served last.
  endpoint_id text COLLATE "C" NOT NULL DEFAULT '',
  -- Moves at every claim: who finds it moved since its statement began has seen the lanes as they no longer are.
  turn bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- For the look at passes whose time is over.
CREATE INDEX passes_by_expiry ON passes (expires_at) WHERE status IN ('issued', 'installed', 'active');
