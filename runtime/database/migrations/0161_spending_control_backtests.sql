-- each environment
-- Backtests of drafts of spending controls, and the flips that they found.

CREATE TABLE spending_control_backtests (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  spending_control_draft_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  -- The controls and the cards of the draft, as they were when the backtest was created.
  spending_controls jsonb NOT NULL,
  card_id text COLLATE "C",
  card_program_id text COLLATE "C",
  interval_start timestamptz(3) NOT NULL,
  interval_end timestamptz(3) NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
  -- Percent.
  progress smallint NOT NULL,
  result json,
  tries integer NOT NULL DEFAULT 0,
  worker uuid,
  leased_until timestamptz(3),
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX spending_control_backtests_by_time ON spending_control_backtests (tenant_id, created, id);
CREATE INDEX spending_control_backtests_by_draft ON spending_control_backtests (tenant_id, spending_control_draft_id, created, id);
CREATE INDEX spending_control_backtests_pending ON spending_control_backtests (tenant_id, created, id) WHERE status = 'pending';

CREATE TABLE spending_control_flips (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  backtest_id text COLLATE "C" NOT NULL,
  card_transaction_id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  change text NOT NULL CHECK (change IN ('approved_to_declined', 'declined_to_approved')),
  code text NOT NULL,
  rule text,
  amount bigint NOT NULL,
  -- When the authorization was decided.
  created timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX spending_control_flips_by_backtest ON spending_control_flips (tenant_id, backtest_id, change, created, id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE spending_control_backtests ALTER COLUMN tenant_id SET (n_distinct = 20);
ALTER TABLE spending_control_flips ALTER COLUMN tenant_id SET (n_distinct = 20);
