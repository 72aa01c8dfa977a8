-- each environment
-- Cards on devices: what phones' wallets were given, and what became of it.

CREATE TABLE provisioning_payloads (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  wallet text NOT NULL CHECK (wallet IN ('apple_pay', 'google_pay')),
  -- Hexadecimal in lower case; null for Google.
  nonce text COLLATE "C",
  last4 text NOT NULL,
  -- Whether a wallet may still use it.
  awaiting boolean NOT NULL,
  wallet_token_id text COLLATE "C",
  consumed_at timestamptz(3),
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, nonce, card_id),
  CHECK ((wallet = 'apple_pay') = (nonce IS NOT NULL)),
  CHECK ((wallet_token_id IS NULL) = (consumed_at IS NULL))
);
CREATE INDEX provisioning_payloads_by_card ON provisioning_payloads (tenant_id, card_id, created, id);
-- For whoever uses them, whatever tenant they are of.
CREATE INDEX provisioning_payloads_awaiting ON provisioning_payloads (created) WHERE awaiting;

CREATE TABLE wallet_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Another once the card is replaced.
  card_id text COLLATE "C" NOT NULL,
  provisioning_payload_id text COLLATE "C",
  wallet text NOT NULL CHECK (wallet IN ('apple_pay', 'google_pay')),
  status text NOT NULL CHECK (status IN ('requested', 'active', 'suspended', 'deleted')),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX wallet_tokens_by_time ON wallet_tokens (tenant_id, created, id);
CREATE INDEX wallet_tokens_by_card ON wallet_tokens (tenant_id, card_id, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE provisioning_payloads ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE wallet_tokens ALTER COLUMN tenant_id SET (n_distinct = 20);
