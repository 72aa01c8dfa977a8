-- The same as complete.sql for one tenant where tables are distributed: new rows beside changes would not go to one shard, so
-- they are written by statements of their own, what is not written yet before this one, what follows after it. Said in full,
-- though the first steps are those of complete.sql: they name the tenant by a value everywhere, and what writes is different.
--
-- $1 json         the attempts, as in complete.sql
-- $2 timestamptz  now, service time
-- $3 text         tenant
--
-- In psql (SET search_path = sandbox): paste it, then
--   \bind '[{"attempt_id": "wdla_1", "status": "failed"}]' '2026-01-01' 'ten_1' \g
--
-- Plan: as complete.sql; on Citus a single task on one shard.
WITH outcome AS (
  SELECT * FROM json_to_recordset($1) AS o (
    tenant_id text, attempt_id text, token uuid, status text, response_status smallint, response_body text,
    error text, duration_ms integer, attempted_at timestamptz, next_id text, next_due timestamptz,
    generation integer)
), released AS (
  DELETE FROM webhook_ready r USING outcome o
   WHERE r.tenant_id = $3 AND r.attempt_id = o.attempt_id AND r.token = o.token
  RETURNING o.*, r.endpoint_id, r.event_id, r.attempt, r.trigger, r.previous_id, r.resume_at,
            r.due_at, r.generation AS series
), result AS MATERIALIZED (
  SELECT r.*, r.trigger = 'manual' AND r.status = 'succeeded' AS ends_series,
         CASE WHEN e.id IS NOT NULL THEN coalesce(r.next_due, r.resume_at) END AS follows_at,
         e.id IS NOT NULL AND r.next_due IS NULL AS resumes
    FROM released r
    LEFT JOIN webhook_endpoints e ON (r.next_due IS NOT NULL OR r.resume_at IS NOT NULL) AND r.status = 'failed'
     AND e.tenant_id = $3 AND e.id = r.endpoint_id AND e.status = 'enabled'
     AND e.generation = coalesce(r.generation, r.series)
), unneeded AS (
  DELETE FROM webhook_waiting w USING result x
   WHERE x.ends_series AND w.tenant_id = $3 AND w.endpoint_id = x.endpoint_id
     AND w.event_id = x.event_id
  RETURNING w.tenant_id, w.attempt_id, w.previous_id, x.attempt_id AS succeeded_id
), written AS (
  UPDATE webhook_attempts a
     SET status = CASE WHEN x.resumes THEN 'pending' ELSE x.status END,
         trigger = CASE WHEN x.resumes THEN 'schedule' ELSE a.trigger END,
         scheduled_at = CASE WHEN x.resumes THEN x.follows_at ELSE a.scheduled_at END,
         response_status = x.response_status, response_body = x.response_body,
         error = x.error, duration_ms = x.duration_ms, attempted_at = x.attempted_at, updated = $2,
         next_attempt_at = CASE WHEN x.trigger = 'manual' AND NOT x.ends_series THEN a.next_attempt_at
                                ELSE x.follows_at END
    FROM result x WHERE a.tenant_id = $3 AND a.id = x.attempt_id
), dropped AS (
  UPDATE webhook_attempts a SET status = 'canceled', updated = $2
    FROM unneeded u WHERE a.tenant_id = $3 AND a.id = u.attempt_id
), ended AS (
  UPDATE webhook_attempts a SET next_attempt_at = NULL
    FROM (SELECT tenant_id, previous_id FROM result
           WHERE status = 'canceled' OR resume_at IS NOT NULL AND NOT resumes
          UNION ALL
          SELECT tenant_id, previous_id FROM unneeded WHERE previous_id <> succeeded_id) AS p
   WHERE a.tenant_id = $3 AND a.id = p.previous_id
)
SELECT attempt_id, resumes, CASE WHEN resumes THEN attempt_id ELSE next_id END AS next_id, endpoint_id, event_id,
       CASE WHEN resumes THEN attempt ELSE attempt + 1 END AS attempt,
       CASE WHEN resumes THEN previous_id ELSE attempt_id END AS previous_id,
       coalesce(generation, series) AS generation, follows_at
  FROM result
