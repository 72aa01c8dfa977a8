-- each environment
-- Thresholds of available balances, which a worker compares with the balances.

CREATE TABLE balance_alerts (
  tenant_id text COLLATE "C" PRIMARY KEY,
  -- Cents. Null: the alert is off.
  threshold bigint CHECK (threshold >= 0),
  -- Whether the balance is below the threshold, and the event was written.
  is_low boolean NOT NULL,
  updated timestamptz(3) NOT NULL
);
