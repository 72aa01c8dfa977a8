-- each environment, concurrently
-- Operators and metrics ask for payouts that wait.
CREATE INDEX chain_transfers_held_up ON chain_transfers (held_up_since) WHERE held_up_since IS NOT NULL;
CREATE INDEX bank_transfers_held_up ON bank_transfers (held_up_since) WHERE held_up_since IS NOT NULL;
