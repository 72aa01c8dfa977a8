-- Plans the first attempts that follow from events of several tenants: one attempt for each endpoint that gets an event. Attempts
-- that may be sent immediately go into the queue under a lease and are returned. The others are written and queued, or written
-- as canceled if the endpoint is disabled. Returns a row for each attempt to send, and a row without an attempt for a tenant
-- that has none. Tenants for which a different worker is planning are missing from the result.
--
-- $1 timestamptz  now, machine time
-- $2 timestamptz  end of the lease
-- $3 uuid         token of the lease
-- $4 text[]       tenants
-- $5 bigint       maximum number of attempts to send
-- $6 integer      maximum number of attempts of one tenant, except tenants in $7
-- $7 jsonb        {tenant: maximum number of attempts}
-- $8 jsonb        {tenant: attempts per second}, for tenants with a lift
--
-- To run it in psql (SET search_path = sandbox), paste it and then
--   \bind '2026-01-01' '2026-01-01 00:00:20' '00000000-0000-4000-8000-000000000000' '{ten_1,ten_2}' 256 64 '{}' '{}' \g
--
-- As it stands, it leaves out the filters of endpoints: visits.ts puts the condition of filtered.ts in the place of MATCHES_FILTERS.
--
-- Plan: for each tenant, two descents of webhook_senders_pkey, one of event_heads_pkey, one scan of its endpoints (at most 100),
-- and two scans of events by (tenant_id, sequence) that end with their LIMIT. For each endpoint, two scans of
-- webhook_ready_by_lane that end with their LIMIT. Then sorts of the planned attempts, and a Tid Scan for the update. There is
-- no sequential scan, hash or bitmap. A subquery with LIMIT 1 checks whether a row exists: EXISTS would drop the LIMIT, and
-- could become a hash of the rows of all tenants.
WITH visit AS MATERIALIZED (
  -- The same as in claim.sql.
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
), reach AS MATERIALIZED (
  -- Position up to which this visit plans: enough events for about 500 attempts at all endpoints of the tenant, but at least one
  -- event. If fewer events are left, the end of the sequence.
  SELECT v.*, size.events, size.ordered, next.more,
         CASE WHEN next.more THEN next.sequence ELSE greatest(v.planned, next.sequence, head.sequence) END AS reached
    FROM visit v
    LEFT JOIN event_heads head ON head.tenant_id = v.tenant_id
   CROSS JOIN LATERAL (SELECT greatest(1, 500 / greatest(1, count(*))) AS events,
                             coalesce(bool_or(w.delivery = 'fifo'), false) AS ordered
                         FROM webhook_endpoints w WHERE w.tenant_id = v.tenant_id) AS size
   CROSS JOIN LATERAL (SELECT max(n.sequence) AS sequence, count(*) >= size.events AS more
                         FROM (SELECT e.sequence FROM events e
                                WHERE e.tenant_id = v.tenant_id AND e.sequence > v.planned
                                ORDER BY e.sequence LIMIT size.events) AS n) AS next
), partition AS MATERIALIZED (
  -- The tenant's endpoints, each with the free places in its partition (PARTITION_WIDTH, as in claim.sql). An endpoint that
  -- already has attempts in the queue has no free place, because those go first. Ordered endpoints are planned by fifo.ts.
  SELECT v.tenant_id, v.position, v.quota, v.planned, v.reached, v.events, v.endpoint_id AS served, w.id, w.status,
         w.generation, w.timeouts, w.url, w.secret, w.retired_secrets, w.signature, w.retry_schedule, w.filters, w.since, w.enabled_events, w.created,
         CASE WHEN w.status <> 'enabled' OR (SELECT true FROM webhook_ready r
                                              WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = w.id
                                                AND r.lease_until < $1
                                              ORDER BY r.lease_until LIMIT 1) IS NOT NULL THEN 0
              ELSE (SELECT greatest(1, 64 >> w.timeouts) - count(*) AS attempts
                      FROM (SELECT FROM webhook_ready r
                             WHERE r.tenant_id = v.tenant_id AND r.endpoint_id = w.id AND r.lease_until >= $1
                             ORDER BY r.lease_until LIMIT 64) AS leased) END AS room
    FROM reach v JOIN webhook_endpoints w ON w.tenant_id = v.tenant_id AND w.delivery <> 'fifo'
   WHERE v.reached > v.planned
), attempt AS (
  -- An attempt for each event and each endpoint that was created before the event, with its rank in the endpoint's partition. The
  -- attempt id consists of the time and counter of the event id and a digest of event and endpoint. It is as unique as a random
  -- id, and needs no value from the client.
  SELECT v.tenant_id, v.position, v.quota, v.served, v.id AS endpoint_id, v.status, v.generation, v.timeouts, v.url,
         v.secret, v.retired_secrets, v.signature, v.retry_schedule, n.id AS event_id, n.type AS event_type, n.version AS event_version, n.body,
         n.trace, n.created, 'wdla_' || substr(n.id, 5, 14) || substr(md5(n.id || v.id), 1, 12) AS attempt_id,
         v.room >= row_number() OVER (PARTITION BY v.tenant_id, v.id ORDER BY n.sequence) AS fits,
         row_number() OVER (PARTITION BY v.tenant_id, v.id ORDER BY n.sequence) AS rank
    FROM partition v
   CROSS JOIN LATERAL (SELECT v.events) AS size
   CROSS JOIN LATERAL (SELECT e.id, e.sequence, e.type, e.version, e.body, e.source, e.created, e.audience, e.audience_endpoint_id,
                              e.trace
                         FROM events e
                        WHERE e.tenant_id = v.tenant_id AND e.sequence > v.planned
                        ORDER BY e.sequence LIMIT size.events) AS n
   WHERE n.audience IS NOT NULL AND coalesce(n.sequence > v.since, n.created >= v.created)
     AND CASE n.audience WHEN 'only' THEN v.id = n.audience_endpoint_id
                         WHEN 'others' THEN v.id <> n.audience_endpoint_id AND v.status = 'enabled'
                         ELSE v.enabled_events && ARRAY[n.type, '*'] AND n.audience_endpoint_id IS DISTINCT FROM v.id AND /* MATCHES_FILTERS */ true END
), turn AS (
  -- The first attempt of every partition before the second of any, starting after the partition served last.
  SELECT a.*, row_number() OVER (PARTITION BY a.tenant_id, a.fits
                                 ORDER BY a.rank, a.endpoint_id <= a.served, a.endpoint_id) AS turn
    FROM attempt a
), planned AS MATERIALIZED (
  SELECT t.*, t.fits AND t.turn <= t.quota
           AND row_number() OVER (PARTITION BY t.fits AND t.turn <= t.quota ORDER BY t.turn, t.position) <= $5 AS leased
    FROM turn t
), written AS (
  INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created,
                                updated)
  SELECT p.tenant_id, p.attempt_id, p.endpoint_id, p.event_id, 1,
         CASE p.status WHEN 'enabled' THEN 'pending' ELSE 'canceled' END, 'schedule', p.created, p.created, p.created
    FROM planned p WHERE NOT p.leased
), ready AS (
  INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at, lease_until, token)
  SELECT p.tenant_id, p.attempt_id, p.endpoint_id, p.event_id, 1, 'schedule', p.created,
         CASE WHEN p.leased THEN $2::timestamptz ELSE '-infinity' END, CASE WHEN p.leased THEN $3::uuid END
    FROM planned p WHERE p.status = 'enabled'
), taken AS MATERIALIZED (
  SELECT p.tenant_id, count(*) FILTER (WHERE p.leased) AS attempts,
         bool_or(p.status = 'enabled' AND NOT p.leased) AS queued,
         (array_agg(p.endpoint_id ORDER BY p.turn DESC) FILTER (WHERE p.leased))[1] AS endpoint_id
    FROM planned p GROUP BY p.tenant_id
), visited AS MATERIALIZED (
  SELECT v.tenant_id, v.place, v.planned, v.reached, v.more, v.ordered, v.tokens - coalesce(s.attempts, 0) AS tokens,
         coalesce(s.endpoint_id, v.endpoint_id) AS endpoint_id,
         coalesce(s.queued, false) OR (SELECT true FROM webhook_ready r
                                        WHERE r.tenant_id = v.tenant_id AND r.lease_until < $1
                                        ORDER BY r.endpoint_id, r.lease_until LIMIT 1) IS NOT NULL AS queued
    FROM reach v LEFT JOIN taken s ON s.tenant_id = v.tenant_id
), spent AS (
  UPDATE webhook_senders w
     SET planned = (SELECT v.reached FROM visited v WHERE v.tenant_id = w.tenant_id),
         tokens = (SELECT v.tokens FROM visited v WHERE v.tenant_id = w.tenant_id),
         endpoint_id = (SELECT v.endpoint_id FROM visited v WHERE v.tenant_id = w.tenant_id),
         refilled_at = greatest(w.refilled_at, $1), turn = w.turn + 1
   WHERE w.ctid = ANY (ARRAY(SELECT v.place FROM visited v WHERE v.reached > v.planned))
)
SELECT v.tenant_id, v.more, v.ordered, v.queued, p.attempt_id, p.endpoint_id, p.event_id, 1 AS attempt, 'schedule' AS trigger,
       true AS wanted, 'unordered' AS delivery, false AS in_turn, p.created AS due_at, p.generation, p.timeouts, p.url, p.secret, p.retired_secrets, p.signature, p.retry_schedule,
       p.event_type, p.event_version, p.body, p.created AS emitted_at, p.trace
  FROM visited v LEFT JOIN planned p ON p.leased AND p.tenant_id = v.tenant_id
 ORDER BY p.turn, p.position
