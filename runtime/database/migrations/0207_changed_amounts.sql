-- each environment
-- A draft that approves another amount changes a decision too.
-- contract: 0161_spending_control_backtests

ALTER TABLE spending_control_flips DROP CONSTRAINT spending_control_flips_change_check;
ALTER TABLE spending_control_flips ADD CONSTRAINT spending_control_flips_change CHECK (
  change IN ('approved_to_declined', 'declined_to_approved', 'amount_changed')) NOT VALID;
-- Approved cents, 0 if it is declined: by the decision, and by the draft. Null in rows of earlier versions of the service.
ALTER TABLE spending_control_flips ADD COLUMN recorded_amount bigint;
ALTER TABLE spending_control_flips ADD COLUMN draft_amount bigint;
