-- Records how attempts ended, and schedules what follows. Skips attempts that are no longer leased under the given token.
-- Returns the attempts that were written.
--
-- $1 json         attempts: [{tenant_id, attempt_id, token, status, …}], with the columns of `outcome`
-- $2 timestamptz  now, service time
--
-- To run it in psql (SET search_path = sandbox), paste it and then
--   \bind '[{"tenant_id": "ten_1", "attempt_id": "wdla_1", "status": "failed"}]' '2026-01-01' \g
--
-- Plan: nested loops with one descent each, for each attempt, of webhook_ready_pkey, webhook_endpoints_pkey,
-- webhook_waiting_by_event and the key of webhook_attempts. The statement has no name, so PostgreSQL plans it each time for the
-- current size of the tables.
WITH outcome AS (
  SELECT * FROM json_to_recordset($1) AS o (
    tenant_id text, attempt_id text, token uuid, status text, response_status smallint, response_body text,
    error text, duration_ms integer, attempted_at timestamptz, next_id text, next_due timestamptz,
    generation integer)
), held AS MATERIALIZED (
  -- A range of one value, and a deletion by position, have the same plan however long the tenant's queue is (successes.ts).
  SELECT o.*, q.*
    FROM outcome o
   CROSS JOIN LATERAL (SELECT r.ctid AS place, r.endpoint_id, r.event_id, r.attempt, r.trigger, r.previous_id, r.resume_at,
                              r.due_at, r.generation AS series
                         FROM webhook_ready r
                        WHERE r.tenant_id = o.tenant_id AND r.attempt_id >= o.attempt_id
                          AND r.attempt_id <= o.attempt_id AND r.token = o.token
                        ORDER BY r.attempt_id LIMIT 1 FOR UPDATE) AS q
), released AS (
  DELETE FROM webhook_ready WHERE ctid = ANY (ARRAY(SELECT place FROM held))
), result AS MATERIALIZED (
  -- `resumes`: a manual attempt that preceded the scheduled one returns to the schedule when it fails. Nothing follows if the
  -- endpoint was disabled since then, even if it is enabled again.
  SELECT r.*, r.trigger = 'manual' AND r.status = 'succeeded' AS ends_series,
         CASE WHEN e.id IS NOT NULL THEN coalesce(r.next_due, r.resume_at) END AS follows_at,
         e.id IS NOT NULL AND r.next_due IS NULL AS resumes
    FROM held r
    LEFT JOIN webhook_endpoints e ON (r.next_due IS NOT NULL OR r.resume_at IS NOT NULL) AND r.status = 'failed'
     AND e.tenant_id = r.tenant_id AND e.id = r.endpoint_id AND e.status = 'enabled'
     AND e.generation = coalesce(r.generation, r.series)
), unneeded AS (
  DELETE FROM webhook_waiting w USING result x
   WHERE x.ends_series AND w.tenant_id = x.tenant_id AND w.endpoint_id = x.endpoint_id
     AND w.event_id = x.event_id
  RETURNING w.tenant_id, w.attempt_id, w.previous_id, x.attempt_id AS succeeded_id
), written AS (
  -- A first attempt may not have a row yet. Its row in the queue holds everything that was planned.
  INSERT INTO webhook_attempts AS a (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, response_status,
                                     response_body, error, duration_ms, scheduled_at, attempted_at,
                                     next_attempt_at, created, updated)
  SELECT x.tenant_id, attempt_id, endpoint_id, event_id, attempt, CASE WHEN resumes THEN 'pending' ELSE status END,
         CASE WHEN resumes THEN 'schedule' ELSE trigger END, response_status, response_body, error, duration_ms,
         CASE WHEN resumes THEN follows_at ELSE due_at END, attempted_at, follows_at, due_at, $2
    FROM result x
  ON CONFLICT (tenant_id, id) DO UPDATE
     SET status = excluded.status, trigger = excluded.trigger, scheduled_at = excluded.scheduled_at,
         response_status = excluded.response_status, response_body = excluded.response_body,
         error = excluded.error, duration_ms = excluded.duration_ms, attempted_at = excluded.attempted_at,
         updated = excluded.updated,
         next_attempt_at = CASE WHEN excluded.status = 'pending'
                                  OR excluded.trigger = 'manual' AND excluded.status <> 'succeeded'
                                THEN a.next_attempt_at ELSE excluded.next_attempt_at END
), made AS (
  INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at,
                                created, updated)
  SELECT x.tenant_id, next_id, endpoint_id, event_id, attempt + 1, 'pending', 'schedule', follows_at, $2, $2
    FROM result x WHERE follows_at IS NOT NULL AND NOT resumes
), waits AS (
  -- The attempt itself if it resumes; otherwise the next one.
  INSERT INTO webhook_waiting (tenant_id, attempt_id, endpoint_id, event_id, attempt, previous_id, generation,
                               due_at)
  SELECT x.tenant_id, CASE WHEN resumes THEN attempt_id ELSE next_id END AS next_id, endpoint_id, event_id,
         CASE WHEN resumes THEN attempt ELSE attempt + 1 END AS attempt,
         CASE WHEN resumes THEN previous_id ELSE attempt_id END AS previous_id,
         coalesce(generation, series) AS generation, follows_at
    FROM result x WHERE follows_at IS NOT NULL
), dropped AS (
  UPDATE webhook_attempts a SET status = 'canceled', updated = $2
    FROM unneeded u WHERE a.tenant_id = u.tenant_id AND a.id = u.attempt_id
), ended AS (
  UPDATE webhook_attempts a SET next_attempt_at = NULL
    FROM (SELECT tenant_id, previous_id FROM result
           WHERE status = 'canceled' OR resume_at IS NOT NULL AND NOT resumes
          UNION ALL
          SELECT tenant_id, previous_id FROM unneeded WHERE previous_id <> succeeded_id) AS p
   WHERE a.tenant_id = p.tenant_id AND a.id = p.previous_id
)
SELECT attempt_id FROM result
