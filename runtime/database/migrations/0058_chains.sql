-- once: control
-- Chains that are paid on, and the accounts that pay there. An account's transactions are numbered without a gap whoever is
-- paid, of either environment, so they belong to no tenant; what a transfer is for is told by its identifier alone.

CREATE TABLE chains (
  -- EIP-155.
  id bigint PRIMARY KEY,
  -- Hash of the first block, as it was seen first: another chain may carry the same number.
  genesis text NOT NULL,
  -- The contract of USDC.
  token text NOT NULL,
  -- Of a chain of our own, for the sandbox: all of it, as `anvil_dumpState` gives it; how often it was saved; where it runs.
  state bytea,
  revision bigint NOT NULL DEFAULT 0,
  url text
);

CREATE TABLE chain_signers (
  chain_id bigint NOT NULL,
  address text COLLATE "C" NOT NULL,
  -- Of the next transaction (nonce of the account).
  next_nonce bigint NOT NULL CHECK (next_nonce >= 0),
  -- Of the worker that sends for it, and until when. Machine time.
  token uuid,
  lease_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (chain_id, address)
);

-- A transfer that was signed, one for each nonce.
CREATE TABLE chain_payments (
  chain_id bigint NOT NULL,
  signer text COLLATE "C" NOT NULL,
  nonce bigint NOT NULL,
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  -- Where the transfer's row is, unless it was wiped since.
  space text COLLATE "C" NOT NULL,
  transfer_id text COLLATE "C" NOT NULL,
  recipient text NOT NULL,
  -- Base units of the token.
  value bigint NOT NULL CHECK (value > 0),
  -- EIP-3009: until when, in seconds since the epoch, the contract takes the authorization, and its signature.
  valid_before bigint NOT NULL,
  signature text NOT NULL,
  -- The head when it was signed: it is in no earlier block.
  after_block bigint NOT NULL,
  -- open: followed. settled: paid. failed: it never will be. displaced: its nonce went to somebody else's transaction.
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'settled', 'failed', 'displaced')),
  -- The transaction that paid, and its block, as last seen.
  hash text,
  block_hash text,
  -- Why it does not get on, for the operator.
  problem text,
  PRIMARY KEY (chain_id, signer, nonce)
);
-- A transfer is signed once, however many workers try.
CREATE UNIQUE INDEX chain_payments_by_transfer ON chain_payments (environment, transfer_id) WHERE state <> 'displaced';
CREATE INDEX chain_payments_open ON chain_payments (chain_id, signer, nonce) WHERE state = 'open';

-- What was signed for a nonce: the first transaction, and those that replace it with a higher fee.
CREATE TABLE chain_transactions (
  chain_id bigint NOT NULL,
  signer text COLLATE "C" NOT NULL,
  nonce bigint NOT NULL,
  attempt smallint NOT NULL,
  hash text COLLATE "C" NOT NULL,
  -- As it is sent, again and again.
  raw bytea NOT NULL,
  -- Wei for a unit of gas (EIP-1559).
  max_fee bigint NOT NULL,
  priority_fee bigint NOT NULL,
  -- Machine time.
  signed_at timestamptz(3) NOT NULL,
  sent_at timestamptz(3),
  PRIMARY KEY (chain_id, signer, nonce, attempt)
);
