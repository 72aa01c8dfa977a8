-- each environment
-- Requests of the last days, for their tenants to look at. Written in batches after the answers; swept by machine time.

CREATE TABLE request_log (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Service time at which it came, and machine time at which it was written here.
  created timestamptz(3) NOT NULL,
  written timestamptz(3) NOT NULL,
  method text COLLATE "C" NOT NULL,
  -- As sent, with its query; and its path alone.
  target text NOT NULL,
  path text COLLATE "C" NOT NULL,
  operation text,
  version text NOT NULL,
  -- As text, which lists walk by.
  status text COLLATE "C" NOT NULL,
  code text,
  key_id text COLLATE "C" NOT NULL,
  address text NOT NULL,
  ms real NOT NULL,
  -- Without what is a secret, and shortened.
  request_body text,
  response_body text,
  PRIMARY KEY (tenant_id, id)
);

CREATE INDEX request_log_by_time ON request_log (tenant_id, created, id);
CREATE INDEX request_log_by_path ON request_log (tenant_id, path, created, id);
CREATE INDEX request_log_by_status ON request_log (tenant_id, status, created, id);
CREATE INDEX request_log_by_key ON request_log (tenant_id, key_id, created, id);
-- For the sweep.
CREATE INDEX request_log_written ON request_log (written);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE request_log ALTER COLUMN tenant_id SET (n_distinct = 20);
