-- each environment
-- Callbacks of Google Wallet that have had their effect, until they would be refused for their age: sent again they have none.

CREATE TABLE google_callbacks (
  tenant_id text COLLATE "C" NOT NULL,
  nonce text COLLATE "C" NOT NULL,
  -- Machine time.
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, nonce)
);
CREATE INDEX google_callbacks_by_expiry ON google_callbacks (tenant_id, expires_at);
