-- each environment, concurrently
-- Replaced by settlement_lines_by_network_day.
-- contract: 0111_lines_by_network_day

DROP INDEX settlement_lines_by_network_date;
