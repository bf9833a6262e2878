-- Makes the search index much cheaper: it took more of Postgres' time than a request itself. It also adds days as
-- slices. A page reads everything in a slice of time, and of ten million calls, a week has too many. The index is
-- rebuilt, which takes about a minute for each million calls.

-- What the records say of a call --------------------------------------------------------------------------------------

-- As before, with the terms written out. Calling an SQL function takes longer than everything else for a term, and
-- Postgres does not inline search_term. The function remains for values that are too long for the index. The
-- transactions of an answer are read once for a call, not once for each of its payouts.
CREATE OR REPLACE VIEW call_entry AS
  SELECT c.call_id, coalesce(p.position, -1) AS position, coalesce(p.leads, TRUE) AS leads, c.client_id, c.operation, p.country,
    c.state, c.process, c.released_at, c.expires_at, c.repeats, p.amount_usd::numeric AS item_usd, c.total_usd, c.upstream_ms,
    array_remove(
      ARRAY[
        'week:' || search_week(c.call_id),
        'day:' || search_day(c.call_id),
        'total:' || search_step(c.total_usd),
        CASE WHEN p.position >= 0 THEN 'item:' || search_step(p.amount_usd) END,
        'client:' || c.client_id,
        'key:' || c.key_id,
        CASE WHEN length(c.actor) > 300 THEN search_term('actor', c.actor) ELSE 'actor:' || nullif(c.actor, '') END,
        CASE WHEN length(c.operation) > 300 THEN search_term('operation', c.operation) ELSE 'operation:' || nullif(c.operation, '') END,
        'state:' || c.state,
        'approval:' || c.approval,
        CASE WHEN length(c.idempotency_key) > 300 THEN search_term('idempotency', c.idempotency_key) ELSE 'idempotency:' || nullif(c.idempotency_key, '') END,
        CASE WHEN length(c.request_id) > 300 THEN search_term('request', c.request_id) ELSE 'request:' || nullif(c.request_id, '') END,
        CASE WHEN length(c.client_address) > 300 THEN search_term('address', c.client_address) ELSE 'address:' || nullif(c.client_address, '') END,
        CASE WHEN length(p.country) > 300 THEN search_term('country', p.country) ELSE 'country:' || nullif(p.country, '') END,
        CASE WHEN length(p.network_code) > 300 THEN search_term('network', p.network_code) ELSE 'network:' || nullif(p.network_code, '') END,
        CASE WHEN length(p.reference) > 300 THEN search_term('reference', p.reference) ELSE 'reference:' || nullif(p.reference, '') END,
        CASE WHEN length(p.upstream_ref) > 300 THEN search_term('ref', p.upstream_ref) ELSE 'ref:' || nullif(p.upstream_ref, '') END,
        CASE WHEN length(n.email) > 300 THEN search_term('to', n.email) ELSE 'to:' || nullif(n.email, '') END,
        CASE WHEN length(n.phone) > 300 THEN search_term('to', n.phone) ELSE 'to:' || nullif(n.phone, '') END,
        CASE WHEN length(n.handle) > 300 THEN search_term('to', n.handle) ELSE 'to:' || nullif(n.handle, '') END,
        CASE WHEN length(p.receiver) > 300 THEN search_term('receiver', p.receiver) ELSE 'receiver:' || nullif(p.receiver, '') END,
        CASE WHEN length(n.email) >= 3 THEN 'begins:' || left(n.email, 3) END,
        CASE WHEN length(n.email) >= 5 THEN 'begins:' || left(n.email, 5) END,
        CASE WHEN length(n.email) >= 7 THEN 'begins:' || left(n.email, 7) END,
        CASE WHEN length(n.email) >= 10 THEN 'begins:' || left(n.email, 10) END,
        CASE WHEN length(n.phone) >= 3 THEN 'begins:' || left(n.phone, 3) END,
        CASE WHEN length(n.phone) >= 5 THEN 'begins:' || left(n.phone, 5) END,
        CASE WHEN length(n.phone) >= 7 THEN 'begins:' || left(n.phone, 7) END,
        CASE WHEN length(n.phone) >= 10 THEN 'begins:' || left(n.phone, 10) END,
        CASE WHEN length(n.handle) >= 3 THEN 'begins:' || left(n.handle, 3) END,
        CASE WHEN length(n.handle) >= 5 THEN 'begins:' || left(n.handle, 5) END,
        CASE WHEN length(n.handle) >= 7 THEN 'begins:' || left(n.handle, 7) END,
        CASE WHEN length(n.handle) >= 10 THEN 'begins:' || left(n.handle, 10) END,
        CASE WHEN length(lower(p.receiver)) >= 3 THEN 'begins:' || left(lower(p.receiver), 3) END,
        CASE WHEN length(lower(p.receiver)) >= 5 THEN 'begins:' || left(lower(p.receiver), 5) END,
        CASE WHEN length(lower(p.receiver)) >= 7 THEN 'begins:' || left(lower(p.receiver), 7) END,
        CASE WHEN length(lower(p.receiver)) >= 10 THEN 'begins:' || left(lower(p.receiver), 10) END
      ] || p.terms, NULL) AS terms
  FROM call_state c
  LEFT JOIN LATERAL (
    -- A FULL JOIN is hashed or merged and never looped, because calls have hundreds of payouts, and their answers as
    -- many transactions.
    SELECT coalesce(i.position, -1) AS position, coalesce(i.position, -1) = coalesce(min(i.position) OVER (), -1) AS leads,
      i.country, i.network_code, i.reference, i.receiver, i.upstream_ref, i.amount_usd, u.terms
    FROM (SELECT * FROM intent_item WHERE intent_id = c.call_id) AS i
    FULL JOIN (
      SELECT coalesce(o.position, -1) AS position, array_agg(CASE WHEN length(v.ref) > 300 THEN search_term('ref', v.ref) ELSE 'ref:' || nullif(v.ref, '') END) AS terms
      FROM outcome_item o CROSS JOIN LATERAL (VALUES (o.upstream_ref), (o.upstream_id), (o.batch_ref)) AS v(ref)
      WHERE o.intent_id = c.call_id GROUP BY 1
    ) AS u ON u.position = i.position
    WHERE i.position IS NOT NULL OR u.position = -1
  ) AS p ON TRUE
  LEFT JOIN LATERAL (
    SELECT lower(r.email) AS email, lower(r.phone) AS phone, lower(r.handle) AS handle
    FROM item_recipient r WHERE r.intent_id = c.call_id AND r.position = p.position OFFSET 0
  ) AS n ON TRUE;

-- Keeping it --------------------------------------------------------------------------------------------------------------

-- A few calls of large tables: index lookups are right however old the statistics are.
ALTER FUNCTION reindex_calls(uuid[]) SET enable_hashjoin = off;
ALTER FUNCTION reindex_calls(uuid[]) SET enable_mergejoin = off;

-- A batch stays in the pending list until all of it is sorted in at once at its end.
ALTER INDEX search_entry_terms SET (gin_pending_list_limit = 32768);

-- As before, but a call counts as many times as it has payouts. Otherwise a batch of calls with hundreds of payouts
-- would exceed the statement's time-out and be retried forever.
CREATE OR REPLACE FUNCTION index_calls(batch integer) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
  at search_position;
  resumed boolean;
  next record;
BEGIN
  PERFORM pg_advisory_xact_lock(7070010); -- One at a time: a statement that waited here indexes what arrived meanwhile.
  SELECT * INTO STRICT at FROM search_position;
  IF pg_snapshot_xmax(pg_current_snapshot()) < pg_snapshot_xmax(at.done) THEN
    -- Transaction numbers start again after a backup was restored to a new server. All records are read again.
    UPDATE search_position SET done = '3:3:', target = NULL, after_tx = NULL, after_id = NULL RETURNING * INTO STRICT at;
  END IF;
  resumed := at.target IS NOT NULL;
  IF NOT resumed THEN
    SELECT pg_current_snapshot(), pg_snapshot_xmin(at.done), '00000000-0000-0000-0000-000000000000'::uuid
      INTO at.target, at.after_tx, at.after_id;
  END IF;
  WITH changed AS (
    (SELECT tx, id FROM intent WHERE (tx, id) > (at.after_tx, at.after_id)
       AND pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id FROM outcome WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, id FROM refusal WHERE (tx, id) > (at.after_tx, at.after_id)
       AND pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id FROM decision WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id FROM resolution WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) ORDER BY 1, 2 LIMIT batch)
    ORDER BY 1, 2 LIMIT batch
  ), weighed AS (
    SELECT c.tx, c.id, coalesce(sum(1 + coalesce(i.item_count, 0))
      OVER (ORDER BY c.tx, c.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM changed c LEFT JOIN intent i ON i.id = c.id
  )
  SELECT array_agg(DISTINCT id) AS ids, count(*) AS rows, (SELECT count(*) FROM changed) AS found,
    (array_agg(tx ORDER BY tx DESC, id DESC))[1] AS tx, (array_agg(id ORDER BY tx DESC, id DESC))[1] AS id
  INTO next FROM weighed WHERE before < 5 * batch;
  IF next.rows = 0 AND NOT resumed THEN
    RETURN FALSE; -- Nothing to write: a search changes nothing if the index is up to date.
  END IF;
  IF next.rows > 0 THEN
    PERFORM reindex_calls(next.ids);
    PERFORM gin_clean_pending_list('search_entry_terms'); -- A search would otherwise read the list entry by entry.
  END IF;
  IF next.rows < batch AND next.rows = next.found THEN
    UPDATE search_position SET done = at.target, target = NULL, after_tx = NULL, after_id = NULL;
    RETURN resumed; -- Records that were committed after the target was set are left for the next call.
  END IF;
  -- The last transaction may have written to several tables for one call. They are read in order, so nothing earlier is
  -- left.
  UPDATE search_position SET target = at.target, after_tx = next.tx, after_id = next.id;
  RETURN TRUE;
END
$$;

-- As before, with this limit of the index.
CREATE OR REPLACE FUNCTION rebuild_search_index() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET maintenance_work_mem = '256MB' SET work_mem = '64MB' SET jit = off AS $$
DECLARE
  seen pg_snapshot;
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  TRUNCATE search_entry, search_slice, search_position;
  SELECT pg_current_snapshot() INTO seen;
  ALTER TABLE search_entry DROP CONSTRAINT IF EXISTS search_entry_pkey;
  DROP INDEX IF EXISTS search_entry_item_usd, search_entry_total_usd, search_entry_terms, search_entry_sent, search_entry_held;
  INSERT INTO search_entry SELECT * FROM call_entry;
  ALTER TABLE search_entry ADD CONSTRAINT search_entry_pkey PRIMARY KEY (call_id, position);
  CREATE INDEX search_entry_item_usd ON search_entry ((coalesce(item_usd, -1)), call_id, position);
  CREATE INDEX search_entry_total_usd ON search_entry ((coalesce(total_usd, -1)), call_id, position);
  CREATE INDEX search_entry_terms ON search_entry USING gin (terms) WITH (gin_pending_list_limit = 32768);
  -- For states that depend on the time: few calls are in progress or can be approved, among all past calls.
  CREATE INDEX search_entry_sent ON search_entry (released_at) WHERE state = 'in_progress';
  CREATE INDEX search_entry_held ON search_entry (expires_at) WHERE expires_at IS NOT NULL;
  INSERT INTO search_slice
  SELECT DISTINCT 'week', search_week(call_id) FROM search_entry
  UNION SELECT DISTINCT 'total', search_step(total_usd) FROM search_entry
  UNION SELECT DISTINCT 'item', search_step(item_usd) FROM search_entry WHERE position >= 0;
  INSERT INTO search_position (done) VALUES (seen);
  ANALYZE search_entry, search_slice;
END
$$;

SELECT rebuild_search_index();
