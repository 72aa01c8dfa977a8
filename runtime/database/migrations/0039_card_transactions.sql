-- each environment
-- Uses of cards, and what each card has spent.

CREATE TABLE card_transactions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  cardholder_id text COLLATE "C" NOT NULL,
  type text NOT NULL CHECK (type IN ('purchase', 'cash_withdrawal')),
  status text NOT NULL CHECK (status IN ('authorized', 'declined', 'reversed', 'expired', 'cleared')),
  -- {name, category_code, network_id, city, country}
  merchant json NOT NULL,
  -- What its category counts as: a member of the catalogue.
  category text COLLATE "C" NOT NULL,
  currency text NOT NULL,
  -- Cents.
  requested bigint NOT NULL,
  authorized bigint NOT NULL,
  held bigint NOT NULL CHECK (held >= 0),
  cleared bigint NOT NULL,
  refunded bigint NOT NULL,
  reversed bigint NOT NULL,
  -- By open and won disputes.
  disputed bigint NOT NULL DEFAULT 0 CHECK (disputed >= 0),
  entry_method text,
  wallet text,
  decline_code text,
  decision_id text COLLATE "C",
  -- Of what is held.
  hold_id text COLLATE "C",
  expires_at timestamptz(3),
  -- The last time.
  cleared_at timestamptz(3),
  rules json NOT NULL,
  history json NOT NULL,
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((held > 0) = (hold_id IS NOT NULL)),
  CHECK ((held > 0) = (status = 'authorized')),
  CHECK ((status = 'declined') = (decline_code IS NOT NULL)),
  CHECK (refunded + disputed <= cleared)
);

-- One for each list, as 0006 says: of several values it merges walks.
CREATE INDEX card_transactions_by_time ON card_transactions (tenant_id, created, id);
CREATE INDEX card_transactions_by_status ON card_transactions (tenant_id, status, type, created, id);
CREATE INDEX card_transactions_by_card ON card_transactions (tenant_id, card_id, status, type, created, id);
CREATE INDEX card_transactions_by_cardholder ON card_transactions (tenant_id, cardholder_id, status, type, created, id);
CREATE INDEX card_transactions_by_category ON card_transactions (tenant_id, category, status, type, created, id);
-- For the sweep of what is held for too long.
CREATE INDEX card_transactions_expiring ON card_transactions (expires_at) WHERE expires_at IS NOT NULL;

-- What a card has spent: held and cleared, in the period of the authorization. Days for limits by day and week, months for
-- those by month and year, so that a limit is a sum over few rows however old the card is.
CREATE TABLE card_spending (
  tenant_id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  granularity text COLLATE "C" NOT NULL CHECK (granularity IN ('day', 'month', 'all')),
  -- Its first day, in UTC.
  period date NOT NULL,
  category text COLLATE "C" NOT NULL,
  -- Cents.
  amount bigint NOT NULL,
  -- How many were approved.
  authorizations bigint NOT NULL,
  PRIMARY KEY (tenant_id, card_id, granularity, period, category)
) WITH (fillfactor = 70); -- rows change in their pages

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE card_transactions ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE card_spending ALTER COLUMN tenant_id SET (n_distinct = 20);
