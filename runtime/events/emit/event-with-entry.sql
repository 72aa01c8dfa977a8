-- Writes one event and one audit entry, as most changes without a request do. One statement costs the database less than two:
-- each takes as long as reading several rows. Any other number uses the statements of `appendEvents` and `appendAudit`.
--
-- $1 text         tenant; also the space of the event
-- $2 bytea        the audit entry as the API shows it, up to the hash of the previous entry
-- $3 bytea        the audit entry, after that hash
-- $4 timestamptz  now, service time
-- $5 text         audit entry: identifier
-- $6 text         audit entry: environment
-- $7 text         audit entry: actor type
-- $8 text         audit entry: actor
-- $9 text         audit entry: action
-- $10 text        audit entry: target
-- $11 text        audit entry: outcome, succeeded or failed
-- $12 text        audit entry: request
-- $13 text        audit entry: client address
-- $14 text        audit entry: version of the answer
-- $15 integer     number of wipes of the sandbox before the space began
-- $16 text        event: identifier
-- $17 text        event: type
-- $18 text        event: version
-- $19 text        event: body
-- $20 json        event: source
-- $21 timestamptz  event: created
-- $22 text        event: audience
-- $23 text        event: endpoint of the audience
-- $24 text        event: trace
-- $25 text        event: change of the pass counts
--
-- Locks: the end of the tenant's events, then the end of its audit log; both until the commit.
WITH last AS (
  INSERT INTO event_heads AS h (tenant_id, sequence) VALUES ($1, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET sequence = h.sequence + 1
  RETURNING sequence
), event AS (
  INSERT INTO events (tenant_id, id, sequence, type, version, body, source, created, audience, audience_endpoint_id,
                      trace, pass_move)
  SELECT $1, $16, last.sequence, $17, $18, $19, $20::json, $21::timestamptz, $22, $23, $24, $25 FROM last
), head AS (
  -- The entry's hash covers that of the previous entry, which only the locked row contains. If the space was wiped meanwhile,
  -- the number becomes null, and the transaction fails (`isSpaceWiped`).
  INSERT INTO audit_heads AS h (tenant_id, sequence, hash, wipes)
  SELECT $1, 1, sha256($2::bytea || 'null' || $3::bytea), coalesce($15::integer, 0) FROM last
  ON CONFLICT (tenant_id) DO UPDATE SET
    sequence = CASE WHEN h.wipes = coalesce($15::integer, h.wipes) THEN h.sequence + 1 END,
    previous_hash = h.hash,
    hash = sha256($2::bytea || '"' || decode(encode(h.hash, 'hex'), 'escape') || '"' || $3::bytea)
  RETURNING sequence, hash, previous_hash
), entry AS (
  INSERT INTO audit_log (tenant_id, sequence, hash, previous_hash, created, id, environment, actor_type, actor_id, action,
                         target_id, outcome, request_id, ip, version)
  SELECT $1, sequence, hash, previous_hash, $4::timestamptz, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM head
)
SELECT EXISTS (SELECT FROM webhook_senders w WHERE w.tenant_id = $1) AS planned_for
