-- once: control
-- Clearing files of the card network, and messages of it that could not take effect.

CREATE TABLE network_exceptions (
  environment text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- Both null for a message that came through the listener.
  file_id text COLLATE "C",
  line bigint,
  -- Null if the line could not be read.
  message_id text COLLATE "C",
  transaction_id text COLLATE "C",
  -- Operation of the network document: clear, refund, …; null if the line could not be read.
  kind text COLLATE "C",
  -- HMAC-SHA-256 of the card number, as in card_numbers. The number itself is not stored.
  card_digest bytea,
  card_last4 text,
  reason text COLLATE "C" NOT NULL,
  -- The member of the message that is wrong.
  field text,
  detail text NOT NULL,
  -- The message without its card number, for another attempt.
  message json,
  -- Machine time.
  created timestamptz(3) NOT NULL,
  resolved timestamptz(3),
  note text,
  PRIMARY KEY (environment, id),
  CHECK ((resolved IS NULL) = (note IS NULL))
);

-- A repeated message, and a line that is read again, are one exception.
CREATE UNIQUE INDEX network_exceptions_by_message ON network_exceptions (environment, message_id) WHERE file_id IS NULL;
CREATE UNIQUE INDEX network_exceptions_by_line ON network_exceptions (environment, file_id, line);
CREATE INDEX network_exceptions_open ON network_exceptions (environment, created, id) WHERE resolved IS NULL;

-- Clearing files of the network and how far each is imported.
CREATE TABLE network_files (
  environment text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  network text NOT NULL,
  business_date date NOT NULL,
  format text NOT NULL,
  -- Of the bytes before the trailer.
  sha256 text NOT NULL,
  -- Control totals of the trailer, which the file matches; amounts in cents.
  records bigint NOT NULL,
  clearings_amount numeric NOT NULL,
  refunds_amount numeric NOT NULL,
  -- The lines that have an outcome, from the first one on, and the bytes up to the end of the last of them.
  lines bigint NOT NULL DEFAULT 0,
  position bigint NOT NULL,
  exceptions bigint NOT NULL DEFAULT 0,
  -- Machine time.
  created timestamptz(3) NOT NULL,
  imported timestamptz(3),
  PRIMARY KEY (environment, id)
);
CREATE INDEX network_files_by_date ON network_files (environment, business_date, id);
