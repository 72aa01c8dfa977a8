-- once: control
-- Finds cards by number, across tenants, and keeps the keys of card numbers in processes with the roles network and reveal.

-- A card use starts with a number and no tenant: this is its locator. A partition for each environment, so that the role
-- of an environment can add to its own only.
CREATE TABLE card_directory (
  environment text NOT NULL,
  -- HMAC-SHA256 of the number under the key of control.card_digest_keys.
  digest bytea NOT NULL,
  -- A tenant, as `tenant_id` of the environment's tables has it.
  space text COLLATE "C" NOT NULL,
  card_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (environment, digest)
) PARTITION BY LIST (environment);
CREATE TABLE card_directory_sandbox PARTITION OF card_directory FOR VALUES IN ('sandbox');
CREATE TABLE card_directory_live PARTITION OF card_directory FOR VALUES IN ('live');
-- For wipes.
CREATE INDEX card_directory_by_space ON card_directory (environment, space, digest);

-- Whether the key is sealed with the secret of card numbers (SVC_CARD_SECRET), not with the pepper.
ALTER TABLE card_keys ADD COLUMN has_own_secret boolean NOT NULL DEFAULT false;

CREATE TABLE card_room (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- The key of the digests, sealed; null until the first use. It is never replaced, because a digest is found by the number
  -- alone.
  digest_key bytea,
  has_own_secret boolean,
  -- Whether the roles of the environments can no longer read sealed numbers. From the start in a new database. In an older
  -- one from the first rotation on, because nodes of the version before read them with these roles.
  closed boolean NOT NULL,
  CHECK ((digest_key IS NULL) = (has_own_secret IS NULL))
);
INSERT INTO card_room (closed) SELECT NOT EXISTS (SELECT FROM tenants);
