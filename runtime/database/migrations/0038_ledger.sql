-- each environment
-- The ledger: double entry in cents, each amount with the tenant's sign, so that all of a transaction add up to zero.
-- Everything but the accounts is written once.

CREATE TABLE ledger_accounts (
  tenant_id text COLLATE "C" NOT NULL,
  -- Which of the tenant's accounts it is: `program_funds`.
  id text COLLATE "C" NOT NULL,
  currency text NOT NULL DEFAULT 'usd',
  balance bigint NOT NULL,
  -- Of its holds that are not resolved.
  held bigint NOT NULL CHECK (held >= 0),
  -- How many entries it has.
  version bigint NOT NULL,
  PRIMARY KEY (tenant_id, id),
  -- What the interface can show.
  CONSTRAINT ledger_accounts_bounds CHECK (id <> 'program_funds' OR abs(balance) <= 1000000000000000)
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

CREATE TABLE ledger_transactions (
  tenant_id text COLLATE "C" NOT NULL,
  -- What it follows from; a second one for the same cannot be written.
  cause text COLLATE "C" NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, cause)
);

CREATE TABLE ledger_entries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  amount bigint NOT NULL,
  -- Of the account, before and after the entry.
  previous bigint NOT NULL,
  current bigint NOT NULL,
  -- Number of the entry within its account.
  version bigint NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX ledger_entries_by_account ON ledger_entries (tenant_id, account_id, version);

-- Transfers out of `program_funds` that are still to come: an authorization's.
CREATE TABLE ledger_holds (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

-- The end of a hold, whatever of it was transferred or is held anew. Its key is why there is one end only.
CREATE TABLE ledger_resolutions (
  tenant_id text COLLATE "C" NOT NULL,
  hold_id text COLLATE "C" NOT NULL,
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, hold_id)
);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE ledger_accounts ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE ledger_transactions ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE ledger_entries ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE ledger_holds ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE ledger_resolutions ALTER COLUMN tenant_id SET (n_distinct = 20);
