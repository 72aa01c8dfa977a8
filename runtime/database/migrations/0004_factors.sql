-- once: control
-- The second factor of a request, and when keys were used. Times are machine time: codes follow the real clock.

-- A page on which a member confirms one request of one key, once.
CREATE TABLE control.challenges (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  -- HMAC-SHA256 of the page's token under SVC_PEPPER
  digest bytea NOT NULL,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  key_id text COLLATE "C" NOT NULL,
  -- Identifier of the operation, to tell people what they confirm.
  operation text NOT NULL,
  -- SHA-256 over what the request asks for
  request_hash bytea NOT NULL,
  created timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  failures smallint NOT NULL DEFAULT 0,
  completed_at timestamptz(3),
  -- HMAC-SHA256 of the fct_ token that the completed page showed
  token_digest bytea,
  token_expires_at timestamptz(3),
  used_at timestamptz(3),
  PRIMARY KEY (tenant_id, digest),
  CHECK ((completed_at IS NULL) = (token_digest IS NULL)),
  CHECK ((completed_at IS NULL) = (token_expires_at IS NULL))
);
-- A page is opened with its token and no tenant: this is its locator.
CREATE UNIQUE INDEX challenges_digest ON control.challenges (digest);
CREATE UNIQUE INDEX challenges_token ON control.challenges (tenant_id, token_digest) WHERE token_digest IS NOT NULL;
-- For the oldest of a tenant's, and for the sweep.
CREATE INDEX challenges_by_time ON control.challenges (tenant_id, created);

-- Each code is good once (RFC 6238, 5.2): the steps of 30 s whose codes a member has used.
CREATE TABLE control.totp_uses (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  member_id text COLLATE "C" NOT NULL,
  step bigint NOT NULL,
  PRIMARY KEY (tenant_id, member_id, step)
);

-- Codes that a tenant's requests have tried since the last right one.
CREATE TABLE control.factor_attempts (
  tenant_id text COLLATE "C" PRIMARY KEY REFERENCES control.tenants (id),
  attempts integer NOT NULL,
  since timestamptz(3) NOT NULL
);

-- Late by up to the pause between two reports of a node; service time.
ALTER TABLE control.keys ADD COLUMN last_used_at timestamptz(3);
