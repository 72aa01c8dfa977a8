-- once: control
-- Until when the command that has closed a tenant for writes is taken to be alive. NULL: it does not report.

ALTER TABLE control.tenant_moves ADD COLUMN alive_until timestamptz(3);
