-- once: control
-- Applications that act for a tenant: what members consented to, and what was issued on it.

-- A member's consent: the application may act for the tenant in the environment that it belongs to.
CREATE TABLE control.oauth_grants (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL REFERENCES control.oauth_clients (id),
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  scopes text[] NOT NULL,
  -- service time of the environment
  created timestamptz(3) NOT NULL,
  revoked_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
-- A request starts with a token and no tenant: this is its locator.
CREATE UNIQUE INDEX oauth_grants_id ON control.oauth_grants (id);

-- Codes, tokens and authorization requests under way. Times are machine time.
CREATE TABLE control.oauth_artefacts (
  -- HMAC-SHA256 of the artefact's text under SVC_PEPPER
  digest bytea PRIMARY KEY,
  model text NOT NULL,
  grant_id text COLLATE "C",
  -- Of access tokens: what they may do.
  scopes text[] NOT NULL DEFAULT '{}',
  -- Everything else of it: AES-256-GCM under a key derived from SVC_PEPPER
  sealed bytea NOT NULL,
  consumed_at timestamptz(3),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX oauth_artefacts_grant ON control.oauth_artefacts (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX oauth_artefacts_expiry ON control.oauth_artefacts (expires_at);

-- The command line signs in as one of these, on whatever port of its own machine is free (RFC 8252, 7.3).
INSERT INTO control.oauth_clients (id, environment, name, redirect_uris, scopes, created)
SELECT id, environment, 'svc, the command line', '{http://127.0.0.1/callback}',
       '{read,write,admin,pass:read,pass:write,card:read,card:write,settlement:read,settlement:write}', '2026-01-01T00:00:00Z'
FROM (VALUES ('svc-cli', 'sandbox'), ('svc-cli-live', 'live')) AS known (id, environment);
