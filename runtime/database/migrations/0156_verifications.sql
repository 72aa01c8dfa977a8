-- once: control
-- The last results of the verification of ledgers and audit logs, which all processes report.

CREATE TABLE verifications (
  environment text COLLATE "C" NOT NULL,
  log text COLLATE "C" NOT NULL,
  -- Start of the last complete run. Before the first one: start of the first process that verifies. Machine time.
  verified_at timestamptz NOT NULL,
  -- Tenants with a fault.
  faults integer NOT NULL,
  PRIMARY KEY (environment, log)
);
