-- once: control
-- Work that a worker cannot do for one row. It waits here for its next attempt, so that the row does not stop the work for others.

CREATE TABLE set_aside_work (
  environment text COLLATE "C" NOT NULL,
  -- The worker's name for it: pass_expiry, settlements, …
  work text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  -- The resource; the tenant's space where the work is done for all of it at once.
  subject_id text COLLATE "C" NOT NULL,
  -- The message of the last failure.
  reason text NOT NULL,
  tries integer NOT NULL,
  -- Machine time, all three.
  since timestamptz(3) NOT NULL,
  failed_at timestamptz(3) NOT NULL,
  retry_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment, work, tenant_id, subject_id)
);

-- For the sweep.
CREATE INDEX set_aside_work_by_retry ON set_aside_work (retry_at);
