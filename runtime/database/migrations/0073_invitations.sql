-- once: control
-- Invitations to join a tenant as a member, each by a link that is used once.

CREATE TABLE control.invitations (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  id text COLLATE "C" NOT NULL,
  -- HMAC-SHA256 of the link's secret under the pepper.
  digest bytea NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'developer', 'viewer')),
  -- The member who invited.
  member_id text COLLATE "C" NOT NULL,
  -- Machine time, both.
  created timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
-- Whoever is invited again has the newer link alone.
CREATE UNIQUE INDEX invitations_by_email ON control.invitations (tenant_id, lower(email));
CREATE UNIQUE INDEX invitations_by_digest ON control.invitations (tenant_id, digest);
CREATE INDEX invitations_by_expiry ON control.invitations (expires_at);
