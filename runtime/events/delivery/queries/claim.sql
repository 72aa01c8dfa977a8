-- Claims queued attempts under a lease for several tenants. Takes a few attempts of each partition: the first of every partition
-- before the second of any, up to the tokens in the tenant's bucket. Returns a row for each attempt, and a row without an attempt
-- for a tenant that has none. Tenants for which a different worker is claiming are missing from the result.
--
-- $1 timestamptz  now, machine time
-- $2 timestamptz  end of the lease
-- $3 uuid         token of the lease
-- $4 text[]       tenants
-- $5 bigint       maximum number of attempts
-- $6 integer      maximum number of attempts of one tenant, except tenants in $7
-- $7 jsonb        {tenant: maximum number of attempts}
-- $8 jsonb        {tenant: attempts per second}, for tenants with a lift
--
-- To run it in psql (SET search_path = sandbox), paste it and then
--   \bind '2026-01-01' '2026-01-01 00:00:20' '00000000-0000-4000-8000-000000000000' '{ten_1,ten_2}' 256 64 '{}' '{}' \g
--
-- Plan: for each tenant, two descents of webhook_senders_pkey. For each partition, three descents of webhook_ready_by_lane (the
-- next partition, an attempt to send, the leased attempts), one descent of webhook_endpoints_pkey, and a scan of
-- webhook_ready_by_lane that ends with its LIMIT. For each attempt, one descent of the key of events. Both updates are Tid
-- Scans: the selected rows are locked, so their positions cannot change. There is no sequential scan, hash or bitmap,
-- regardless of the statistics, because each step is a LATERAL subquery with an order that only one index has. For the same reason, the
-- conditions are ranges of one value: an equality would leave nothing to order by.
WITH visit AS MATERIALIZED (
  -- Locks the tenants' buckets, except those that a different worker has locked. A bucket holds 100 tokens, or as many as a lift
  -- allows, and refills in one second. A lock without waiting can still be too late: if `turn` changed after this statement
  -- began, a different claim has already taken the attempts that this statement still sees.
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
       -- Walks the tenant's partitions, starting after the one served last. Each step is one descent of the index, independent of the
       -- number of attempts in the partition. The walk ends after 256 partitions.
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
       -- At most 16 partitions that have an attempt to send and a free place. A partition has 64 places (PARTITION_WIDTH), halved by
       -- each timeout in a row, minus the attempts that any worker has leased. The attempts of
       -- an ordered endpoint are made one after the other, so a worker that leases some is the only one that does. If its keys are
       -- ordered separately, that holds during a recovery.
       SELECT partition.endpoint_id, partition.position, room.attempts AS room, manner.in_turn, endpoint.*
         FROM partition
        CROSS JOIN LATERAL (SELECT FROM webhook_ready r
                             WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = partition.endpoint_id AND r.lease_until < $1
                             ORDER BY r.lease_until LIMIT 1) AS something
         LEFT JOIN LATERAL (SELECT e.status, e.generation, e.timeouts, e.url, e.secret, e.retired_secrets, e.signature, e.delivery, e.fifo_key, e.retry_schedule
                              FROM webhook_endpoints e
                             WHERE e.tenant_id = v.tenant_id AND e.id >= partition.endpoint_id AND e.id <= partition.endpoint_id
                             ORDER BY e.id LIMIT 1) AS endpoint ON true
        CROSS JOIN LATERAL (SELECT endpoint.delivery = 'fifo' AND (endpoint.fifo_key = 'endpoint' OR (
                                     SELECT true FROM webhook_recoveries r
                                      WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = partition.endpoint_id
                                        AND r.status IN ('counting', 'running') LIMIT 1) IS NOT NULL) AS in_turn) AS manner
        CROSS JOIN LATERAL (SELECT CASE WHEN NOT coalesce(manner.in_turn, false) THEN greatest(1, 64 >> coalesce(endpoint.timeouts, 0)) - count(*)
                                        WHEN count(*) = 0 THEN 32 ELSE 0 END AS attempts
                              FROM (SELECT FROM webhook_ready r
                                     WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = partition.endpoint_id
                                       AND r.lease_until >= $1
                                     ORDER BY r.lease_until LIMIT 64) AS leased) AS room
        WHERE partition.position > 0 AND room.attempts > 0
        LIMIT least(16, v.quota)
     ), share AS MATERIALIZED (
       SELECT ceil(v.quota::float8 / nullif(count(*), 0))::integer AS attempts FROM open
     )
     -- Attempts of open partitions without a valid lease: first those whose worker was lost, then by due time. Each partition gives
     -- an equal share of the tenant's quota. SKIP LOCKED, because a request may be canceling attempts.
     SELECT idle.*, open.position AS partition_position, open.endpoint_id, open.generation, open.timeouts, open.url,
            open.secret, open.retired_secrets, open.signature, open.delivery, open.in_turn, open.retry_schedule, row_number() OVER (PARTITION BY open.position) AS rank,
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
    LEFT JOIN LATERAL (SELECT e.type AS event_type, e.version AS event_version, e.body, e.created AS emitted_at,
                              e.trace
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
       c.generation, c.timeouts, c.url, c.secret, c.retired_secrets, c.signature, c.delivery, c.in_turn, c.retry_schedule, c.event_type, c.event_version, c.body,
       c.emitted_at, c.trace
  FROM visit v LEFT JOIN claimed c ON c.tenant_id = v.tenant_id
 ORDER BY c.rank, c.tenant_position, c.partition_position
