-- each environment
-- The audit log becomes a chain for each tenant; stored answers that hold secrets are sealed; requests are counted.

-- Where a tenant's chain ends. Whoever writes an entry writes this row, last in its transaction: entries are numbered
-- without gaps in the order of their commits.
CREATE TABLE audit_heads (
  tenant_id text COLLATE "C" PRIMARY KEY,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  previous_hash bytea
) WITH (fillfactor = 20); -- room in the page for the versions that a busy tenant leaves behind

ALTER TABLE audit_log
  ADD COLUMN sequence bigint,
  -- Null: the whole account; such an entry stands in the chains of both environments.
  ADD COLUMN environment text CHECK (environment IN ('sandbox', 'live')),
  ADD COLUMN actor_type text CHECK (actor_type IN ('key', 'token', 'member', 'operator', 'system')),
  -- SHA-256 over the entry as the API shows it, without its hash, in the form of RFC 8785.
  ADD COLUMN hash bytea,
  ADD COLUMN previous_hash bytea,
  ALTER COLUMN actor_id DROP NOT NULL,
  ALTER COLUMN request_id DROP NOT NULL,
  ALTER COLUMN version DROP NOT NULL,
  ALTER COLUMN ip DROP NOT NULL,
  -- As it was hashed: inet would write some addresses in another way.
  ALTER COLUMN ip TYPE text USING host(ip);

UPDATE audit_log SET
  environment = current_schema(),
  actor_type = 'key',
  outcome = CASE WHEN outcome ~ '^\d' THEN 'succeeded' ELSE 'failed' END,
  action = CASE action
    WHEN 'createPassTemplate' THEN 'pass_template.created'
    WHEN 'updatePassTemplate' THEN 'pass_template.updated'
    WHEN 'archivePassTemplate' THEN 'pass_template.archived'
    WHEN 'createPass' THEN 'pass.created'
    WHEN 'updatePass' THEN 'pass.updated'
    WHEN 'revokePass' THEN 'pass.revoked'
    WHEN 'archivePass' THEN 'pass.archived'
    WHEN 'createPassBatch' THEN 'pass_batch.created'
    WHEN 'updatePassBatch' THEN 'pass_batch.updated'
    WHEN 'revokePassBatch' THEN 'pass_batch.revoked'
    ELSE action
  END;

-- Entries from before are linked in the order in which they are listed.
DO $link$
DECLARE
  entry record;
  tenant text := '';
  number bigint;
  link bytea;
  digest bytea;
BEGIN
  FOR entry IN SELECT * FROM audit_log ORDER BY tenant_id, created, id LOOP
    IF entry.tenant_id <> tenant THEN
      tenant := entry.tenant_id;
      number := 0;
      link := NULL;
    END IF;
    number := number + 1;
    digest := sha256(convert_to(
      '{"action":' || to_json(entry.action) || ',"actor":{"id":' || to_json(entry.actor_id) || ',"type":"key"}'
        || ',"created":"' || to_char(entry.created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
        || ',"environment":"' || entry.environment || '","id":"' || entry.id || '","ip":"' || entry.ip || '"'
        || ',"object":"audit_entry","outcome":"' || entry.outcome || '","previous_hash":'
        || coalesce('"' || encode(link, 'hex') || '"', 'null') || ',"request_id":' || to_json(entry.request_id)
        || ',"target_id":' || coalesce(to_json(entry.target_id)::text, 'null')
        || ',"version":"' || entry.version || '"}', 'UTF8'));
    UPDATE audit_log SET sequence = number, hash = digest, previous_hash = link
     WHERE tenant_id = entry.tenant_id AND id = entry.id;
    INSERT INTO audit_heads AS h (tenant_id, sequence, hash, previous_hash) VALUES (tenant, number, digest, link)
      ON CONFLICT (tenant_id)
      DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash, previous_hash = excluded.previous_hash;
    link := digest;
  END LOOP;
END $link$;

ALTER TABLE audit_log
  ALTER COLUMN sequence SET NOT NULL,
  ALTER COLUMN actor_type SET NOT NULL,
  ALTER COLUMN hash SET NOT NULL,
  ADD CHECK (outcome IN ('succeeded', 'failed')),
  ADD CHECK ((sequence = 1) = (previous_hash IS NULL)),
  DROP CONSTRAINT audit_log_pkey,
  ADD PRIMARY KEY (tenant_id, sequence);
CREATE INDEX audit_log_by_target ON audit_log (tenant_id, target_id, created DESC, id DESC);

-- An answer in which a secret stands is kept as AES-256-GCM under a key derived from SVC_PEPPER.
ALTER TABLE idempotency_answers
  ADD COLUMN sealed bytea,
  ALTER COLUMN body DROP NOT NULL,
  ADD CHECK ((body IS NULL) <> (sealed IS NULL));

-- Requests that took a token of a bucket, by day of service time.
CREATE TABLE usage_counters (
  tenant_id text COLLATE "C" NOT NULL,
  day date NOT NULL,
  bucket text NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (tenant_id, day, bucket)
);

-- What a node has added to the counters: a batch whose outcome it did not hear of is sent again and counts once.
CREATE TABLE usage_batches (
  id text COLLATE "C" PRIMARY KEY,
  added timestamptz(3) NOT NULL
);
