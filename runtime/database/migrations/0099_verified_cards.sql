-- each environment
-- An authorization of 0 verifies a card: it is open and holds nothing. What the version before writes, and wrote,
-- passes these too.
-- contract: 0039_card_transactions

ALTER TABLE card_transactions DROP CONSTRAINT card_transactions_check1;
ALTER TABLE card_transactions ADD CONSTRAINT card_transactions_held CHECK (held = 0 OR status = 'authorized') NOT VALID;
ALTER TABLE card_transactions ADD CONSTRAINT card_transactions_open CHECK (
  status <> 'authorized' OR held > 0 OR requested = 0) NOT VALID;
