-- each environment
-- Requests that failed on purpose. Live has this table as every environment does, and nothing in it.

CREATE TABLE injected_faults (
  tenant_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the setting, the kind of failure and the request
  request text COLLATE "C" NOT NULL,
  -- How often the request has failed.
  count integer NOT NULL,
  -- Machine time of the first failure.
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, request)
);

CREATE INDEX injected_faults_by_time ON injected_faults (created);
