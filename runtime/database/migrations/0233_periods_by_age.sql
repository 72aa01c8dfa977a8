-- each environment, concurrently
-- The oldest totals of each day or month, which the cleanup job deletes.

CREATE INDEX card_spending_by_age ON card_spending (granularity, period) WHERE granularity <> 'all';
CREATE INDEX daily_totals_by_age ON daily_totals (day);
CREATE INDEX usage_counters_by_age ON usage_counters (day);
