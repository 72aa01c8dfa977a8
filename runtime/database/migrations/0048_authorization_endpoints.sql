-- each environment
-- Where a tenant is asked about authorizations.

CREATE TABLE authorization_endpoints (
  tenant_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  timeout_ms integer NOT NULL CHECK (timeout_ms BETWEEN 100 AND 2000),
  default_action text NOT NULL CHECK (default_action IN ('approve', 'decline')),
  -- Sealed, as those of webhook endpoints.
  secret bytea NOT NULL,
  retired_secrets json NOT NULL DEFAULT '[]',
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE authorization_endpoints ALTER COLUMN tenant_id SET (n_distinct = 20);
