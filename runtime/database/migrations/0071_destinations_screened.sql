-- each environment
-- The list that an active destination's holder was held against last; 0: none since it is active.
ALTER TABLE payout_destinations ADD COLUMN list_number integer NOT NULL DEFAULT 0;
