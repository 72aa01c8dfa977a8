-- each environment
-- Passes on devices, and the way of a change to them: what changed (wallet_changes), then for whom that is news (wallet_updates).

-- A pass on a device, as Apple's wallet registers it.
CREATE TABLE apple_registrations (
  tenant_id text COLLATE "C" NOT NULL,
  -- Apple's deviceLibraryIdentifier.
  device_id text COLLATE "C" NOT NULL,
  pass_id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  push_token text COLLATE "C" NOT NULL,
  -- The number of the last change that the device is told of; 0 for none since it registered.
  changed bigint NOT NULL,
  -- Machine time: Apple says since when a push token is none by the same.
  registered_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, device_id, pass_id)
) WITH (fillfactor = 70); -- `changed` is in no index: a change of a template rewrites rows in their pages
CREATE INDEX apple_registrations_by_pass ON apple_registrations (tenant_id, pass_id, device_id);
CREATE INDEX apple_registrations_by_template ON apple_registrations (tenant_id, template_id, device_id);

-- One for each tenant that has had a pass in a wallet. `changed` numbers changes: whoever takes a number keeps the row
-- locked until the commit, so that numbers become visible in their order and whoever has seen one has missed none before it.
CREATE TABLE wallet_heads (
  tenant_id text COLLATE "C" PRIMARY KEY,
  changed bigint NOT NULL
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

-- Passes and templates that have changed, until everybody who has them is in wallet_updates. Who is to be told is walked
-- through in steps, in a circle: a change in the middle of a walk makes it go on, past the end, to where it was.
CREATE TABLE wallet_changes (
  tenant_id text COLLATE "C" NOT NULL,
  platform text NOT NULL CHECK (platform IN ('apple', 'google')),
  subject_type text NOT NULL CHECK (subject_type IN ('pass', 'template')),
  subject_id text COLLATE "C" NOT NULL,
  -- Of the first change; machine time.
  since timestamptz(3) NOT NULL,
  -- Steps so far: those that have had fewer come first.
  steps integer NOT NULL DEFAULT 0,
  -- The last one that was walked past.
  walked_to text COLLATE "C" NOT NULL DEFAULT '',
  -- Where the walk ends once it has begun anew.
  walk_until text COLLATE "C" NOT NULL DEFAULT '',
  anew boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, subject_id, platform)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX wallet_changes_in_turn ON wallet_changes (tenant_id, platform, subject_type, steps, subject_id);

-- What is to be sent: the target is a device of Apple's, a pass or a template at Google's. One row however often it changes.
CREATE TABLE wallet_updates (
  tenant_id text COLLATE "C" NOT NULL,
  platform text NOT NULL CHECK (platform IN ('apple', 'google')),
  target text COLLATE "C" NOT NULL,
  -- Of the first change that was not sent; machine time.
  since timestamptz(3) NOT NULL,
  -- Not before; while it is being sent the end of the lease. Machine time.
  ready_at timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- Of the lease; null without one.
  token uuid,
  -- Moves with each change: what changed while it was being sent is sent again.
  generation integer NOT NULL DEFAULT 0,
  -- Attempts that failed in a row.
  tries integer NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, target, platform)
) WITH (
  -- Every row is updated once and deleted soon: scans must not wade through what is dead.
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX wallet_updates_ready ON wallet_updates (tenant_id, platform, ready_at, target);
