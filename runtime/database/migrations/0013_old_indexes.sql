-- each environment, concurrently
-- What lists were read by before.
-- contract: 0006_list_indexes

DROP INDEX passes_by_time;
DROP INDEX passes_by_template;
DROP INDEX passes_by_status;
DROP INDEX passes_by_expiry;
DROP INDEX webhook_endpoints_by_time;
DROP INDEX webhook_attempts_by_time;
