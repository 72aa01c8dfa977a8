-- each environment
-- A draft in shadow that approves another amount changes a decision too.
-- contract: 0175_spending_control_shadows

ALTER TABLE spending_control_shadow_totals DROP CONSTRAINT spending_control_shadow_totals_outcome_check;
ALTER TABLE spending_control_shadow_totals ADD CONSTRAINT spending_control_shadow_totals_outcome CHECK (
  outcome IN ('same', 'approved_to_declined', 'declined_to_approved', 'amount_changed', 'fixed')) NOT VALID;
