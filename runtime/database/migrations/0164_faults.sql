-- once: control
-- Failures that a tenant simulates in its sandbox.

CREATE TABLE control.faults (
  tenant_id text COLLATE "C" PRIMARY KEY REFERENCES control.tenants (id),
  -- As the interface shows it, without the times, and with the request that set it.
  setting jsonb NOT NULL,
  -- Both in service time of the sandbox.
  created timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
