-- each environment
-- What the card network calls a wallet token, and when it last reported the status.

ALTER TABLE wallet_tokens ADD COLUMN network_reference text COLLATE "C";
-- Network time: an older report that arrives later changes nothing.
ALTER TABLE wallet_tokens ADD COLUMN network_at timestamptz(3);
