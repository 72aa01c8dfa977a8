-- once: control
-- Sessions of members who are signed in to the console.

CREATE TABLE control.sessions (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  -- HMAC-SHA256 of the cookie's secret under the pepper.
  digest bytea NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  -- Machine time, all of them.
  created timestamptz(3) NOT NULL,
  -- To the minute: not every page writes it.
  seen_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- From where it was begun, and by which program.
  ip text NOT NULL,
  user_agent text NOT NULL,
  PRIMARY KEY (tenant_id, digest)
);
CREATE INDEX sessions_by_member ON control.sessions (tenant_id, member_id, created);
CREATE INDEX sessions_by_expiry ON control.sessions (expires_at);
