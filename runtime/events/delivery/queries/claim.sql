-- Takes attempts of the queue under a lease for several tenants: a few of each partition, the first of every partition before the second
-- of any, as many of a tenant as its bucket holds. Answers one row for each attempt, and one without an attempt for a tenant
-- with none; tenants for whom somebody else is claiming are missing.
--
-- $1 timestamptz  now, machine time
-- $2 timestamptz  the end of the lease
-- $3 uuid         its token
-- $4 text[]       tenants
-- $5 bigint       attempts at most
-- $6 integer      attempts of one tenant at most, but for those of
-- $7 jsonb        {tenant: attempts at most}
-- $8 jsonb        {tenant: attempts a second}, of tenants with a lift
--
-- In psql (SET search_path = sandbox): paste it, then
--   \bind '2026-01-01' '2026-01-01 00:00:20' '00000000-0000-4000-8000-000000000000' '{ten_1,ten_2}' 256 64 '{}' '{}' \g
--
-- Plan: for each tenant two descents of webhook_senders_pkey; for each partition three of webhook_ready_by_lane (the next partition,
-- something to send, what is under way) and one of webhook_endpoints_pkey; then a scan of webhook_ready_by_lane that ends
-- with its LIMIT; for each attempt one descent of the key of events. Both updates are Tid Scans: what was picked is locked, so
-- it is where it was seen. No sequential scan, no hash, no bitmap, whatever the statistics say: each step is a LATERAL of its
-- own with an order that only one index has. Hence also ranges of one value instead of equality, which would leave nothing to
-- order by.
WITH visit AS MATERIALIZED (
  -- The tenants' buckets (100, or as many as a lift allows, refilled in a second), locked, of those for whom nobody else is claiming. Who waited for
  -- nobody may still be too late: if the turn moved after this statement began, another claim has taken what this one still
  -- sees.
  SELECT t.position, s.*
    FROM unnest($4::text[]) WITH ORDINALITY AS t (tenant_id, position)
   CROSS JOIN LATERAL (SELECT w.turn FROM webhook_senders w WHERE w.tenant_id = t.tenant_id LIMIT 1) AS seen
   CROSS JOIN LATERAL (SELECT coalesce(($8::jsonb ->> t.tenant_id)::numeric, 100) AS attempts) AS rate
   CROSS JOIN LATERAL (
     SELECT w.ctid AS place, w.tenant_id, w.endpoint_id, w.planned,
            (least(rate.attempts, w.tokens::numeric
               + greatest(0, extract(epoch FROM $1::timestamptz - w.refilled_at)) * rate.attempts))::float8 AS tokens,
            greatest(0, least(floor(least(rate.attempts, w.tokens::numeric
               + greatest(0, extract(epoch FROM $1::timestamptz - w.refilled_at)) * rate.attempts)),
               coalesce(($7::jsonb ->> w.tenant_id)::integer, $6)))::integer AS quota
       FROM webhook_senders w
      WHERE w.tenant_id = t.tenant_id AND w.turn = seen.turn
        FOR NO KEY UPDATE SKIP LOCKED) AS s
), picked AS MATERIALIZED (
  SELECT v.position AS tenant_position, v.tenant_id, v.tokens, v.place AS sender_place, turn.*
    FROM visit v
   CROSS JOIN LATERAL (
     WITH RECURSIVE partition AS (
       -- The tenant's partitions in turn, beginning after the one that was served last, each found by one descent of the index
       -- however many attempts wait in it; after 256 the tenant's turn is given up.
       SELECT v.endpoint_id, false AS wrapped, 0 AS position
       UNION ALL
       SELECT step.endpoint_id, step.wrapped, partition.position + 1
         FROM partition CROSS JOIN LATERAL (
           SELECT * FROM (SELECT r.endpoint_id, partition.wrapped FROM webhook_ready r
                           WHERE r.tenant_id = v.tenant_id AND r.endpoint_id > partition.endpoint_id
                           ORDER BY r.endpoint_id LIMIT 1) AS further
           UNION ALL
           SELECT * FROM (SELECT r.endpoint_id, true FROM webhook_ready r
                           WHERE r.tenant_id = v.tenant_id AND NOT partition.wrapped
                           ORDER BY r.endpoint_id LIMIT 1) AS again
           LIMIT 1) AS step
        WHERE partition.position < 256 AND NOT (step.wrapped AND step.endpoint_id > v.endpoint_id)
     ), open AS MATERIALIZED (
       -- At most 16 partitions in which something is to be sent and that have room: PARTITION_WIDTH (64), halved by each time-out in a
       -- row, less what is under way, whoever sends it.
       SELECT partition.endpoint_id, partition.position, room.attempts AS room, endpoint.*
         FROM partition
        CROSS JOIN LATERAL (SELECT FROM webhook_ready r
                             WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = partition.endpoint_id AND r.lease_until < $1
                             ORDER BY r.lease_until LIMIT 1) AS something
         LEFT JOIN LATERAL (SELECT e.status, e.generation, e.timeouts, e.url, e.secret, e.retired_secrets
                              FROM webhook_endpoints e
                             WHERE e.tenant_id = v.tenant_id AND e.id >= partition.endpoint_id AND e.id <= partition.endpoint_id
                             ORDER BY e.id LIMIT 1) AS endpoint ON true
        CROSS JOIN LATERAL (SELECT greatest(1, 64 >> coalesce(endpoint.timeouts, 0)) - count(*) AS attempts
                              FROM (SELECT FROM webhook_ready r
                                     WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = partition.endpoint_id
                                       AND r.lease_until >= $1
                                     ORDER BY r.lease_until LIMIT 64) AS leased) AS room
        WHERE partition.position > 0 AND room.attempts > 0
        LIMIT least(16, v.quota)
     ), share AS MATERIALIZED (
       SELECT ceil(v.quota::float8 / nullif(count(*), 0))::integer AS attempts FROM open
     )
     -- Attempts of an open partition that nobody sends: first those whose sender was lost, then by when they were due; as many as
     -- make the tenant's quota when all partitions have so many. Locked without waiting: somebody may be cancelling them.
     SELECT idle.*, open.position AS partition_position, open.endpoint_id, open.generation, open.timeouts, open.url,
            open.secret, open.retired_secrets, row_number() OVER (PARTITION BY open.position) AS rank,
            open.url IS NOT NULL AND (idle.trigger = 'manual' OR
              open.status = 'enabled' AND coalesce(idle.series = open.generation, true)) AS is_open
       FROM share
      CROSS JOIN open
      CROSS JOIN LATERAL (
        SELECT * FROM (
          SELECT r.ctid AS place, r.attempt_id, r.event_id, r.attempt, r.trigger, r.generation AS series, r.due_at
            FROM webhook_ready r
           WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = open.endpoint_id
             AND r.lease_until > '-infinity' AND r.lease_until < $1
           ORDER BY r.lease_until, r.due_at, r.attempt_id
           LIMIT least(open.room, share.attempts) FOR UPDATE SKIP LOCKED) AS lost
        UNION ALL
        SELECT * FROM (
          SELECT r.ctid AS place, r.attempt_id, r.event_id, r.attempt, r.trigger, r.generation AS series, r.due_at
            FROM webhook_ready r
           WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = open.endpoint_id
             AND r.lease_until = '-infinity'
           ORDER BY r.lease_until, r.due_at, r.attempt_id
           LIMIT least(open.room, share.attempts) FOR UPDATE SKIP LOCKED) AS due
        LIMIT least(open.room, share.attempts)) AS idle
      ORDER BY rank, partition_position
      LIMIT v.quota) AS turn
   LIMIT $5
), leased AS (
  UPDATE webhook_ready SET lease_until = $2, token = $3::uuid
   WHERE ctid = ANY (ARRAY(SELECT place FROM picked))
), claimed AS MATERIALIZED (
  SELECT p.*, e.*, p.is_open AND e.body IS NOT NULL AS wanted
    FROM picked p
    LEFT JOIN LATERAL (SELECT e.type AS event_type, e.version AS event_version, e.body, e.created AS emitted_at
                         FROM events e
                        WHERE e.tenant_id = p.tenant_id AND e.id >= p.event_id AND e.id <= p.event_id
                        ORDER BY e.id LIMIT 1) AS e ON true
), served AS MATERIALIZED (
  SELECT tenant_id, min(sender_place::text)::tid AS place, min(tokens) - count(*) FILTER (WHERE wanted) AS tokens,
         (array_agg(endpoint_id ORDER BY partition_position DESC))[1] AS endpoint_id
    FROM claimed GROUP BY tenant_id
), spent AS (
  UPDATE webhook_senders w
     SET tokens = (SELECT s.tokens FROM served s WHERE s.tenant_id = w.tenant_id),
         endpoint_id = (SELECT s.endpoint_id FROM served s WHERE s.tenant_id = w.tenant_id),
         refilled_at = greatest(w.refilled_at, $1), turn = w.turn + 1
   WHERE w.ctid = ANY (ARRAY(SELECT place FROM served))
)
SELECT v.tenant_id, v.tokens, c.attempt_id, c.endpoint_id, c.event_id, c.attempt, c.trigger, c.wanted, c.due_at,
       c.generation, c.timeouts, c.url, c.secret, c.retired_secrets, c.event_type, c.event_version, c.body,
       c.emitted_at
  FROM visit v LEFT JOIN claimed c ON c.tenant_id = v.tenant_id
 ORDER BY c.rank, c.tenant_position, c.partition_position
