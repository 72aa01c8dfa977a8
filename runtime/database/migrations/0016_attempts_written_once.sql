-- each environment
-- Most attempts are written once, when it is known how they ended: pages need no room for a second time. New partitions have none.

ALTER TABLE webhook_attempts_default RESET (fillfactor);
