-- each environment
-- What tenants were asked about authorizations, and what came of it.

CREATE TABLE authorization_decisions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Known from the question on; the transaction is written with its end.
  card_transaction_id text COLLATE "C" NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'responded', 'timed_out', 'errored')),
  approved boolean,
  amount bigint,
  decline_reason text,
  duration_ms integer,
  default_action_used boolean NOT NULL DEFAULT false,
  metadata json NOT NULL DEFAULT '{}',
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  -- {card_id, merchant, requested, currency, entry_method, wallet}: what was asked about.
  use json NOT NULL,
  default_action text NOT NULL CHECK (default_action IN ('approve', 'decline')),
  -- Idempotency-Key of the request that asked, by which its repetition finds the question; null where it has none.
  request_key uuid,
  -- Machine time from which a worker ends what is pending still.
  due timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'pending') = (due IS NOT NULL))
);

-- One for each list, as 0006 says: of several statuses it merges walks.
CREATE INDEX authorization_decisions_by_time ON authorization_decisions (tenant_id, created, id);
CREATE INDEX authorization_decisions_by_status ON authorization_decisions (tenant_id, status, created, id);
CREATE INDEX authorization_decisions_by_transaction
  ON authorization_decisions (tenant_id, card_transaction_id, status, created, id);
-- Two requests with one key ask once.
CREATE UNIQUE INDEX authorization_decisions_asked ON authorization_decisions (tenant_id, request_key)
  WHERE request_key IS NOT NULL;
CREATE INDEX authorization_decisions_due ON authorization_decisions (due) WHERE due IS NOT NULL;

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE authorization_decisions ALTER COLUMN tenant_id SET (n_distinct = 20);
