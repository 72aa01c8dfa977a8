-- each environment
-- Transfers of USDC to tenants' addresses, one for each payout.

CREATE TABLE chain_transfers (
  tenant_id text COLLATE "C" NOT NULL,
  -- Of the payout; EIP-3009's nonce is its hash.
  id text COLLATE "C" NOT NULL,
  -- CAIP-10.
  recipient text NOT NULL,
  -- Cents.
  amount bigint NOT NULL CHECK (amount > 0),
  state text NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'signing', 'in_transit', 'paid', 'failed', 'withdrawn')),
  -- Of the transaction that was sent last, or that paid.
  hash text,
  confirmations integer NOT NULL DEFAULT 0,
  failure_code text,
  -- Machine time from which it is to be signed; null while there is nothing to sign.
  due timestamptz(3) DEFAULT '-infinity',
  -- Machine time since when signing it was tried in vain.
  held_up_since timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX chain_transfers_due ON chain_transfers (due) WHERE due IS NOT NULL;

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE chain_transfers ALTER COLUMN tenant_id SET (n_distinct = 20);
