-- once: control
-- Passkeys with which members sign in (WebAuthn, Level 3), and the challenges that they have answered.

CREATE TABLE control.passkeys (
  tenant_id text COLLATE "C" NOT NULL REFERENCES control.tenants (id),
  -- As the authenticator names it.
  credential_id bytea NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  -- COSE.
  public_key bytea NOT NULL,
  -- Of signatures, as the authenticator counts them; 0 where it does not.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  -- The member's word for it.
  name text NOT NULL,
  created timestamptz(3) NOT NULL,
  used_at timestamptz(3),
  PRIMARY KEY (tenant_id, credential_id)
);

CREATE INDEX passkeys_by_member ON control.passkeys (tenant_id, member_id);

-- A challenge is answered once.
CREATE TABLE control.passkey_challenges (
  tenant_id text COLLATE "C" NOT NULL,
  challenge text COLLATE "C" NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, challenge)
);

CREATE INDEX passkey_challenges_by_end ON control.passkey_challenges (expires_at);
