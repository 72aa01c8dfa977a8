-- each environment
-- Possible matches between cardholders and entries of sanctions lists, and which list everybody of a tenant was held against.

CREATE TABLE sanctions_alerts (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  cardholder_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('new_match', 'updated_match', 'cleared')),
  status text NOT NULL CHECK (status IN ('open', 'false_positive', 'confirmed')),
  list_name text NOT NULL,
  entry_id text NOT NULL,
  -- Of what the entry said: dismissed once, it is never raised again until that changes.
  entry_hash text NOT NULL,
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
  matched_fields json NOT NULL,
  note text,
  -- Service time.
  resolved_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'open') = (resolved_at IS NULL))
);
-- One for each list, as 0006 says.
CREATE INDEX sanctions_alerts_by_time ON sanctions_alerts (tenant_id, created, id);
CREATE INDEX sanctions_alerts_by_status ON sanctions_alerts (tenant_id, status, created, id);
CREATE INDEX sanctions_alerts_by_cardholder ON sanctions_alerts (tenant_id, cardholder_id, status, created, id);

-- One for each tenant that has had a cardholder: workers find by it whom to hold against a new list.
CREATE TABLE screenings (
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- In control.sanctions_lists; 0 until everybody was held against some list.
  list_number integer NOT NULL,
  -- Machine time: looked at again then, for those whom a node with an older list has screened meanwhile.
  look_at timestamptz(3) NOT NULL
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE sanctions_alerts ALTER COLUMN tenant_id SET (n_distinct = 20);
