-- once: control
-- Keys that numbers of cards are sealed under, the newest seals. Each is sealed itself, by the deployment's own secret.

CREATE TABLE card_keys (
  version integer PRIMARY KEY,
  -- Null once it is retired: nothing can be opened with it any more.
  sealed bytea,
  -- By the clock of the database.
  created timestamptz(3) NOT NULL DEFAULT now(),
  retired timestamptz(3),
  CHECK ((sealed IS NULL) = (retired IS NOT NULL))
);
