-- once: control
-- Codes with which members sign in when the telephone that shows theirs is gone. One that was used is deleted.

CREATE TABLE control.recovery_codes (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  member_id text COLLATE "C" NOT NULL,
  -- HMAC-SHA256 of the code under the pepper.
  digest bytea NOT NULL,
  PRIMARY KEY (tenant_id, member_id, digest)
);
