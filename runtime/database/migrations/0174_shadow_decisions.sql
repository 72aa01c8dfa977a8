-- each environment
-- What drafts in shadow would have decided, of the last decision. Null if none was in shadow.

ALTER TABLE card_transactions ADD COLUMN shadow_decisions json;
