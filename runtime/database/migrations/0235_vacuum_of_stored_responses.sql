-- each environment
-- As many rows expire as are written, so dead rows are cleaned up at 5 % of the table instead of 20 %.

ALTER TABLE idempotency_answers SET (autovacuum_vacuum_scale_factor = 0.05);
