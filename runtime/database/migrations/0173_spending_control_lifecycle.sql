-- each environment
-- Drafts of spending controls can be in shadow, promoted and rolled back.
-- contract: 0160_spending_control_drafts

ALTER TABLE spending_control_drafts DROP CONSTRAINT spending_control_drafts_status_check;
ALTER TABLE spending_control_drafts ADD CONSTRAINT spending_control_drafts_status CHECK (
  status IN ('draft', 'shadow', 'active', 'superseded', 'archived')) NOT VALID;
-- Of the newest shadow; `shadow_ended` is null while it runs.
ALTER TABLE spending_control_drafts ADD COLUMN shadow_version bigint;
ALTER TABLE spending_control_drafts ADD COLUMN shadow_started timestamptz(3);
ALTER TABLE spending_control_drafts ADD COLUMN shadow_ended timestamptz(3);
-- The newest one, as the interface shows it.
ALTER TABLE spending_control_drafts ADD COLUMN promotion json;
-- The draft that was active until this one was promoted.
ALTER TABLE spending_control_drafts ADD COLUMN superseded_id text COLLATE "C";
