-- each environment
-- The clock of a named sandbox can start in the past.
-- contract: 0050_settlements

-- Below 0, the time of everything in the space is behind the service's, until the tenant has advanced the clock to it.
ALTER TABLE settlement_clocks DROP CONSTRAINT settlement_clocks_offset_ms_check;
