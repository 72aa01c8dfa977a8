-- once: control
-- Card processors: the clients of the network listener, their certificates and signing keys. Times are machine time.

CREATE TABLE network_processors (
  environment text PRIMARY KEY CHECK (environment IN ('sandbox', 'live')),
  name text NOT NULL,
  created timestamptz(3) NOT NULL,
  updated timestamptz(3) NOT NULL
);

-- Client certificates of TLS. A certificate identifies its environment.
CREATE TABLE network_certificates (
  id text COLLATE "C" PRIMARY KEY,
  environment text NOT NULL REFERENCES network_processors,
  -- SHA-256 of the certificate in DER
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  subject text NOT NULL,
  valid_from timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  created timestamptz(3) NOT NULL,
  retired_at timestamptz(3)
);
CREATE UNIQUE INDEX network_certificates_pinned ON network_certificates (fingerprint) WHERE retired_at IS NULL;

-- Keys that sign requests and answers.
CREATE TABLE network_keys (
  id text COLLATE "C" PRIMARY KEY,
  environment text NOT NULL REFERENCES network_processors,
  -- AES-256-GCM under a key derived from SVC_PEPPER
  sealed bytea NOT NULL,
  -- Last four characters, to tell keys apart
  hint text NOT NULL,
  created timestamptz(3) NOT NULL,
  retired_at timestamptz(3)
);
