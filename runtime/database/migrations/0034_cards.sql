-- each environment
-- Card programs and cards.

CREATE TABLE card_programs (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('virtual', 'physical', 'both')),
  -- In the form of card-programs/spending-controls.ts, as those of cards are.
  spending_controls jsonb NOT NULL,
  -- Null for a plain look.
  design json,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX card_programs_by_time ON card_programs (tenant_id, created, id);

CREATE TABLE cards (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  cardholder_id text COLLATE "C" NOT NULL,
  card_program_id text COLLATE "C",
  type text NOT NULL CHECK (type IN ('virtual', 'physical')),
  status text NOT NULL CHECK (status IN ('inactive', 'active', 'canceled')),
  frozen boolean NOT NULL,
  last4 text NOT NULL CHECK (last4 ~ '^[0-9]{4}$'),
  exp_month smallint NOT NULL CHECK (exp_month BETWEEN 1 AND 12),
  exp_year smallint NOT NULL,
  cancellation_reason text CHECK (cancellation_reason IN ('lost', 'stolen', 'fulfillment_error', 'user')),
  -- The cards before and after it, each a card of the tenant's.
  replacement_for_id text COLLATE "C",
  replaced_by_id text COLLATE "C",
  -- {address, service, status, tracking_number}; null for virtual cards.
  shipping json,
  spending_controls jsonb NOT NULL,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((type = 'physical') = (shipping IS NOT NULL)),
  CHECK ((status = 'canceled') = (cancellation_reason IS NOT NULL))
);

-- One for each list, as 0006 says: of several values it merges walks.
CREATE INDEX cards_by_time ON cards (tenant_id, created, id);
CREATE INDEX cards_by_status ON cards (tenant_id, status, type, created, id);
CREATE INDEX cards_by_cardholder ON cards (tenant_id, cardholder_id, status, type, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE card_programs ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE cards ALTER COLUMN tenant_id SET (n_distinct = 20);
