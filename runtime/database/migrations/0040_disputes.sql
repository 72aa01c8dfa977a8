-- each environment
-- Disputes of card transactions, and the documents sent with them, which lists leave alone.

CREATE TABLE disputes (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  card_transaction_id text COLLATE "C" NOT NULL,
  -- Cents.
  amount bigint NOT NULL CHECK (amount > 0),
  provisional_credit bigint NOT NULL,
  reason text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('unsubmitted', 'submitted', 'under_review', 'won', 'lost', 'withdrawn', 'expired')),
  explanation text,
  -- [{name, content_type, size, sha256}]
  files json NOT NULL,
  metadata json NOT NULL,
  submission_deadline timestamptz(3) NOT NULL,
  submitted_at timestamptz(3),
  closed_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((closed_at IS NOT NULL) = (status IN ('won', 'lost', 'withdrawn', 'expired'))),
  CHECK (provisional_credit = CASE WHEN status IN ('submitted', 'under_review') THEN amount ELSE 0 END)
);

-- One for each list, as 0006 says: of several values it merges walks.
CREATE INDEX disputes_by_time ON disputes (tenant_id, created, id);
CREATE INDEX disputes_by_status ON disputes (tenant_id, status, reason, created, id);
CREATE INDEX disputes_by_transaction ON disputes (tenant_id, card_transaction_id, status, reason, created, id);
-- For the sweep of what was not submitted in time.
CREATE INDEX disputes_unsubmitted ON disputes (submission_deadline) WHERE status = 'unsubmitted';

CREATE TABLE dispute_files (
  tenant_id text COLLATE "C" NOT NULL,
  dispute_id text COLLATE "C" NOT NULL,
  -- In the dispute's list.
  position smallint NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (tenant_id, dispute_id, position)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE disputes ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE dispute_files ALTER COLUMN tenant_id SET (n_distinct = 20);
