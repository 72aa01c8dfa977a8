-- once: control
-- Each named sandbox has a number that its tenant never uses again, so that no space is used twice.

ALTER TABLE control.tenants ADD COLUMN sandboxes_made integer NOT NULL DEFAULT 0;

-- Failures that a tenant simulates in a named sandbox. control.faults has those of the default sandbox.
CREATE TABLE control.sandbox_faults (
  -- First space of the sandbox.
  sandbox text COLLATE "C" PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  -- As in control.faults.
  setting jsonb NOT NULL,
  created timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
