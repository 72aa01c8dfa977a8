-- each environment
-- Numbers and security codes of cards, sealed under a key of control.card_keys.

CREATE TABLE card_numbers (
  tenant_id text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  -- HMAC-SHA256 of the number: two cards of a tenant never have the same.
  fingerprint bytea NOT NULL,
  key_version integer NOT NULL,
  sealed bytea NOT NULL,
  PRIMARY KEY (tenant_id, card_id),
  UNIQUE (tenant_id, fingerprint)
);
-- What is still sealed under an older key.
CREATE INDEX card_numbers_by_key ON card_numbers (key_version, tenant_id, card_id);

-- As 0012 says: each tenant is planned for as a large one.
ALTER TABLE card_numbers ALTER COLUMN tenant_id SET (n_distinct = 20);
