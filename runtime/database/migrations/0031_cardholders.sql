-- each environment
-- People and companies that cards are issued to, where their screening against sanctions lists stands, and tokens of details.

CREATE TABLE cardholders (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text NOT NULL CHECK (type IN ('individual', 'company')),
  name text NOT NULL,
  email text,
  phone_number text,
  date_of_birth date,
  -- {line1, line2, city, state, postal_code, country}; null where none was given.
  billing_address json,
  status text NOT NULL CHECK (status IN ('pending', 'active', 'inactive', 'blocked')),
  sanctions_status text NOT NULL
    CHECK (sanctions_status IN ('screening', 'clear', 'potential_match', 'confirmed_match')),
  -- Service time.
  last_screened_at timestamptz(3),
  -- The list that it was screened against last: what callers know it by, and its number in control.sanctions_lists.
  list_version text,
  list_number integer NOT NULL DEFAULT 0,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((status = 'blocked') = (sanctions_status = 'confirmed_match'))
);

-- One for each list, as 0006 says: of several types and statuses it merges walks.
CREATE INDEX cardholders_by_time ON cardholders (tenant_id, created, id);
CREATE INDEX cardholders_by_type ON cardholders (tenant_id, type, status, created, id);
-- Those that another list is to be held against.
CREATE INDEX cardholders_by_list ON cardholders (tenant_id, list_number, id) WHERE status IN ('pending', 'active');

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE cardholders ALTER COLUMN tenant_id SET (n_distinct = 20);

-- Details of a person or a bank account on their way to a cardholder or a payout destination.
CREATE TABLE tokens (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text NOT NULL CHECK (type IN ('bank_account', 'person')),
  -- JSON, sealed; null once it was used.
  details bytea,
  -- Service time.
  expires_at timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((details IS NULL) = (used_at IS NOT NULL))
);
-- What has expired is deleted for everybody.
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
ALTER TABLE tokens ALTER COLUMN tenant_id SET (n_distinct = 20);
