-- each environment
-- Messages to the holders of all passes that match a filter.

CREATE TABLE pass_message_batches (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  filter json NOT NULL,
  header text NOT NULL,
  body text NOT NULL,
  translations json NOT NULL,
  starts_at timestamptz(3),
  ends_at timestamptz(3),
  status text NOT NULL CHECK (status IN ('queuing', 'sending', 'completed', 'canceled')),
  total bigint NOT NULL,
  sent bigint NOT NULL,
  skipped bigint NOT NULL,
  -- The last pass for which a message is queued.
  after_created timestamptz(3),
  after_id text COLLATE "C",
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX pass_message_batches_by_time ON pass_message_batches (tenant_id, created, id);
CREATE INDEX pass_message_batches_by_status ON pass_message_batches (tenant_id, status, created, id);
CREATE INDEX pass_message_batches_queuing ON pass_message_batches (updated) WHERE status = 'queuing';

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE pass_message_batches ALTER COLUMN tenant_id SET (n_distinct = 20);
