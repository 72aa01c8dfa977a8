-- each environment, concurrently
-- Reconciliation reads whole days, whose lines are stored side by side. Each line costs less than in an index of its own entries.
CREATE INDEX settlement_lines_by_network_day ON settlement_lines USING brin (network_date) WITH (autosummarize = on);
