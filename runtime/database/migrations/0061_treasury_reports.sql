-- each environment
-- Reports that tenants ask for, and their files, which workers write piece by piece.

CREATE TABLE treasury_reports (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  -- The first instant that it covers, and the first that it does not.
  interval_start timestamptz(3) NOT NULL,
  interval_end timestamptz(3) NOT NULL,
  currency text NOT NULL,
  -- Of the request: its rows are spelt as that version spells them.
  version text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
  -- {files: [{format, size, sha256}], row_count, opening, closing}
  result json,
  -- Service time until which its files can be downloaded.
  expires_at timestamptz(3),
  has_files boolean NOT NULL DEFAULT false,
  failure_code text,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  -- Who writes it, until when by machine time, and how often somebody began.
  worker uuid,
  leased_until timestamptz(3),
  tries smallint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'succeeded') = (result IS NOT NULL AND expires_at IS NOT NULL)),
  CHECK ((status = 'failed') = (failure_code IS NOT NULL))
);

CREATE INDEX treasury_reports_by_time ON treasury_reports (tenant_id, created, id);
-- For workers: those to be written, the oldest of each tenant first, and those whose files are to be deleted.
CREATE INDEX treasury_reports_pending ON treasury_reports (tenant_id, created, id) WHERE status = 'pending';
CREATE INDEX treasury_reports_expiring ON treasury_reports (expires_at) WHERE has_files;

CREATE TABLE treasury_report_pieces (
  tenant_id text COLLATE "C" NOT NULL,
  report_id text COLLATE "C" NOT NULL,
  format text COLLATE "C" NOT NULL,
  position integer NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (tenant_id, report_id, format, position)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE treasury_reports ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE treasury_report_pieces ALTER COLUMN tenant_id SET (n_distinct = 20);
