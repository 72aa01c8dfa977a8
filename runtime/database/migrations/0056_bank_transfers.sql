-- each environment
-- Payouts that a bank is asked to make, until nothing more can become of them.

CREATE TABLE bank_transfers (
  tenant_id text COLLATE "C" NOT NULL,
  -- The payout's: the bank pays once for it.
  id text COLLATE "C" NOT NULL,
  -- queued: nothing was sent. sending: the bank may have it. sent: the bank has it. paid: it may still come back.
  state text COLLATE "C" NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'paid', 'ended')),
  -- When it is looked at next: also the end of the lease of whoever looks. Machine time; null once it has ended.
  due timestamptz(3),
  -- Of the lease.
  token uuid,
  -- Looks without a usable answer since the last one.
  failures integer NOT NULL DEFAULT 0,
  -- What the last of them had instead; never what was sent.
  problem text,
  -- What the bank calls it.
  bank_id text,
  -- Machine time.
  paid_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  CHECK ((due IS NULL) = (state = 'ended'))
);
CREATE INDEX bank_transfers_due ON bank_transfers (due) WHERE due IS NOT NULL;

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE bank_transfers ALTER COLUMN tenant_id SET (n_distinct = 20);
