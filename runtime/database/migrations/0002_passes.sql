-- each environment
-- Templates and passes, the stored answers of POST requests, and the audit log.
-- Objects whose members keep the order they were sent in are json, not jsonb: nothing here looks inside them.

CREATE TABLE pass_templates (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('loyalty', 'gift_card', 'coupon', 'event_ticket', 'boarding_pass', 'generic')),
  status text NOT NULL CHECK (status IN ('active', 'archived')),
  brand json NOT NULL,
  fields json NOT NULL,
  barcode json NOT NULL,
  relevant_locations json NOT NULL,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX pass_templates_by_time ON pass_templates (tenant_id, created DESC, id DESC);

CREATE TABLE passes (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  template_id text COLLATE "C" NOT NULL,
  -- As last written: a live pass whose expires_at has come is expired all the same.
  status text NOT NULL CHECK (status IN ('issued', 'installed', 'active', 'redeemed', 'revoked', 'expired')),
  holder_email text,
  holder_name text,
  -- The pass's own values; those of the template stand for the others.
  fields json NOT NULL,
  platforms text[] NOT NULL DEFAULT '{}',
  -- Random: whoever has it can add the pass to a wallet.
  page_token text COLLATE "C" NOT NULL,
  google_url text NOT NULL,
  metadata json NOT NULL,
  expires_at timestamptz(3),
  installed_at timestamptz(3),
  revoked_at timestamptz(3),
  archived_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, template_id) REFERENCES pass_templates (tenant_id, id)
);
CREATE INDEX passes_by_time ON passes (tenant_id, created DESC, id DESC);
CREATE INDEX passes_by_template ON passes (tenant_id, template_id, created DESC, id DESC);
CREATE INDEX passes_by_status ON passes (tenant_id, status, created DESC, id DESC);

-- How many live passes a tenant on trial has issued. The row's lock makes the limit exact.
CREATE TABLE trial_usage (
  tenant_id text COLLATE "C" PRIMARY KEY,
  passes integer NOT NULL
);

-- What a POST with an Idempotency-Key was answered, in the form of head, so that any version can render it again.
CREATE TABLE idempotency_answers (
  tenant_id text COLLATE "C" NOT NULL,
  key uuid NOT NULL,
  -- SHA-256 over method, route, parameters and canonical body
  fingerprint bytea NOT NULL,
  status smallint NOT NULL,
  body text NOT NULL,
  -- The version that was head when this was written.
  head text NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, key)
);
-- For the sweep of what is older than 24 hours.
CREATE INDEX idempotency_answers_by_time ON idempotency_answers (created);

-- Append-only: the application's role has no UPDATE, DELETE or TRUNCATE here.
CREATE TABLE audit_log (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  actor_id text COLLATE "C" NOT NULL,
  -- Identifier of the operation.
  action text NOT NULL,
  target_id text COLLATE "C",
  -- What was answered: a success's status, or an error's code.
  outcome text NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  ip inet NOT NULL,
  version text NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_log_by_time ON audit_log (tenant_id, created DESC, id DESC);
