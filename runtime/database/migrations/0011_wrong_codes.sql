-- once: control
-- Wrong codes of a member of a tenant, over every way to show one: the header, the challenge pages, sign-in. Machine
-- time. `factor_attempts` counted those of the header for all members together; nodes of the version before still do.
CREATE TABLE control.wrong_codes (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  member_id text COLLATE "C" NOT NULL,
  -- When codes were tried that have not been found right; emptied when a pause begins.
  recent timestamptz(3)[] NOT NULL,
  -- Pauses in a row, each twice as long as the one before.
  pauses integer NOT NULL DEFAULT 0,
  paused_until timestamptz(3),
  PRIMARY KEY (tenant_id, member_id)
);

-- For the oldest of a key's.
CREATE INDEX challenges_by_key ON control.challenges (tenant_id, key_id, created);
