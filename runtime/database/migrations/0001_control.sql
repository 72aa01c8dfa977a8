-- once: control
-- Accounts, keys, pins and clocks: what every node needs to judge a request, whatever its environment.

CREATE SCHEMA IF NOT EXISTS control;

CREATE TABLE control.tenants (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  plan text NOT NULL CHECK (plan IN ('trial', 'standard', 'enterprise')),
  billing_email text,
  verified_at timestamptz(3),
  created timestamptz(3) NOT NULL
);

CREATE TABLE control.members (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  id text COLLATE "C" NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  -- scrypt, as PHC string
  password_hash text,
  -- AES-256-GCM under a key derived from SVC_PEPPER
  totp_secret bytea,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  -- Without both a member owns keys but cannot sign in: the first owner of a tenant that an operator made.
  CHECK ((password_hash IS NULL) = (totp_secret IS NULL))
);
CREATE UNIQUE INDEX members_email ON control.members (tenant_id, lower(email));

CREATE TABLE control.pins (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  version text NOT NULL,
  pinned_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment)
);

CREATE TABLE control.keys (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  id text COLLATE "C" NOT NULL,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  kind text NOT NULL CHECK (kind IN ('secret', 'publishable')),
  scope text CHECK (scope IN ('read', 'write', 'admin')),
  member_id text COLLATE "C",
  -- HMAC-SHA256 of the key's text under SVC_PEPPER
  digest bytea NOT NULL,
  -- last four characters, to recognise a key by
  hint text NOT NULL,
  allowed_ips text[] NOT NULL DEFAULT '{}',
  replaces_id text COLLATE "C",
  created timestamptz(3) NOT NULL,
  -- pending revocation: works for 24 hours more, judged at use
  retired_at timestamptz(3),
  revoked_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK ((kind = 'publishable') = (scope IS NULL))
);
-- A request starts with a key and no tenant: this is its locator.
CREATE UNIQUE INDEX keys_digest ON control.keys (digest);
-- At most one successor for a key, whoever rotates it first.
CREATE UNIQUE INDEX keys_successor ON control.keys (tenant_id, replaces_id) WHERE replaces_id IS NOT NULL;

CREATE TABLE control.limit_lifts (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  id text COLLATE "C" NOT NULL,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  bucket text NOT NULL,
  factor numeric NOT NULL CHECK (factor > 0),
  created timestamptz(3) NOT NULL,
  -- machine time: limits do not follow the service clock
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

CREATE TABLE control.oauth_clients (
  id text COLLATE "C" PRIMARY KEY,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  scopes text[] NOT NULL,
  -- HMAC-SHA256 of the client secret under SVC_PEPPER; null for public clients
  secret_digest bytea,
  created timestamptz(3) NOT NULL
);

-- Service time = machine time + offset, per environment.
CREATE TABLE control.clock (
  environment text PRIMARY KEY CHECK (environment IN ('sandbox', 'live')),
  offset_ms bigint NOT NULL DEFAULT 0,
  -- The part of the offset that SVC_CLOCK set: a start without SVC_CLOCK takes it back, advances by hand stay.
  start_offset_ms bigint NOT NULL DEFAULT 0
);
INSERT INTO control.clock (environment) VALUES ('sandbox'), ('live');

-- Every change to this schema's tables that nodes cache raises the revision in the same transaction;
-- nodes poll it and drop their caches when it moved. NOTIFY "control" is the hint that makes them look at once.
CREATE TABLE control.revision (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision bigint NOT NULL DEFAULT 0
);
INSERT INTO control.revision DEFAULT VALUES;

-- What is true of the deployment as a whole.
CREATE TABLE control.deployment (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- HMAC of a fixed text: a start with another SVC_PEPPER, under which no key would work, is refused
  pepper_check bytea,
  demo_tenant_id text COLLATE "C" REFERENCES control.tenants (id),
  -- The demo tenant's secrets, sealed, from its creation until a start has printed them: a kill in between loses nothing
  demo_secrets bytea
);
INSERT INTO control.deployment DEFAULT VALUES;
