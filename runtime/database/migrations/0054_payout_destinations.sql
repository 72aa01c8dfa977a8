-- each environment
-- Where the money of a tenant may go, and which of these places its settlements are paid to.

CREATE TABLE payout_destinations (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL CHECK (type IN ('usdc_address', 'bank_account')),
  status text COLLATE "C" NOT NULL
    CHECK (status IN ('pending_verification', 'inactive', 'active', 'disabled', 'denied')),
  -- CAIP-10, with its EIP-55 checksum.
  address text COLLATE "C",
  -- {last4, routing_number, country}
  bank_account json,
  -- The whole account, sealed.
  account bytea,
  holder_name text NOT NULL,
  -- When its hold ends, by the clock of settlements.
  active_at timestamptz(3),
  metadata json NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CHECK ((type = 'usdc_address') = (address IS NOT NULL)),
  CHECK ((type = 'bank_account') = (bank_account IS NOT NULL AND account IS NOT NULL)),
  CHECK ((status = 'denied') = (active_at IS NULL))
);

-- One for each list, as 0006 says: of several values it merges walks.
CREATE INDEX payout_destinations_by_time ON payout_destinations (tenant_id, created, id);
CREATE INDEX payout_destinations_by_status ON payout_destinations (tenant_id, status, type, created, id);
-- For the sweep of what was held for long enough, of everybody and of one tenant.
CREATE INDEX payout_destinations_held ON payout_destinations (active_at) WHERE status = 'inactive';
CREATE INDEX payout_destinations_held_of ON payout_destinations (tenant_id, active_at) WHERE status = 'inactive';

-- The destination that settlements are paid to: one row is one default, however many try to set it.
CREATE TABLE payout_defaults (
  tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
  destination_id text COLLATE "C" NOT NULL
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE payout_destinations ALTER COLUMN tenant_id SET (n_distinct = 20);
