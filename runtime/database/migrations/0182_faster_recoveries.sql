-- each environment
-- An account whose limit was lifted can recover more than 100 events per second.
-- contract: 0145_webhook_recoveries

ALTER TABLE webhook_recoveries DROP CONSTRAINT webhook_recoveries_rate_check;
ALTER TABLE webhook_recoveries ADD CONSTRAINT webhook_recoveries_rate CHECK (rate BETWEEN 1 AND 1000) NOT VALID;
