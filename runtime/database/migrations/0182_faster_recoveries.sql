-- each environment
-- An account whose limit was lifted can recover more than 100 events per second.

ALTER TABLE webhook_recoveries
  DROP CONSTRAINT webhook_recoveries_rate_check,
  ADD CONSTRAINT webhook_recoveries_rate_check CHECK (rate BETWEEN 1 AND 1000);
