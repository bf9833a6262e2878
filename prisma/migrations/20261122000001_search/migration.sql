-- The search index: what auditors search the history by. It is made of the records and can be made anew of them; it only finds
-- calls, what is shown and exported is read from the records, which are sealed.
--
-- One row per payout, with what holds for its whole call beside it; and one row, position -1, of a call without payouts, or for
-- the transactions of its answer that belong to no payout for certain. Whatever is searched for exactly stands in `terms`, each
-- with what it is before it ('client:…', 'country:Kenya'). One GIN index over them answers any combination: it intersects
-- lists of rows, so two filters that each hold for a fifth of all rows and together for none cost little.

-- Terms ---------------------------------------------------------------------------------------------------------------

-- An index entry has a limit of 2,712 bytes, so values longer than any search are replaced by their hash.
CREATE FUNCTION search_term(tag text, value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT tag || ':' || CASE
    WHEN length(value) <= 300 THEN nullif(value, '')
    ELSE left(value, 200) || '#' || encode(sha256(convert_to(value, 'UTF8')), 'hex') END
$$;

-- The beginnings of recipients, at four lengths. A search by prefix looks up the longest beginning that it covers.
CREATE FUNCTION search_beginnings(value text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY[
    CASE WHEN length(value) >= 3 THEN 'begins:' || left(value, 3) END,
    CASE WHEN length(value) >= 5 THEN 'begins:' || left(value, 5) END,
    CASE WHEN length(value) >= 7 THEN 'begins:' || left(value, 7) END,
    CASE WHEN length(value) >= 10 THEN 'begins:' || left(value, 10) END]
$$;

-- Slices divide the index for pages that are found piece by piece, in the order of the sort: weeks since 1970, …
CREATE FUNCTION search_week(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 604800000)::integer
$$;

CREATE FUNCTION search_day(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::integer
$$;

CREATE FUNCTION search_hour(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 3600000)::integer
$$;

-- … and steps of a tenth of an amount. No amount comes last. Rounding does not matter.
CREATE FUNCTION search_step(usd numeric) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN usd IS NULL THEN -10000 WHEN usd <= 0 THEN -9999 ELSE floor(10 * ln(usd::float8))::integer END
$$;

-- The index -----------------------------------------------------------------------------------------------------------

CREATE TABLE search_entry (
  call_id     uuid NOT NULL,
  position    integer NOT NULL CHECK (position >= -1), -- of the payout, from 0
  leads       boolean NOT NULL, -- the first row of its call
  client_id   uuid NOT NULL,
  operation   text NOT NULL,
  country     text,
  state       text NOT NULL, -- see call_state
  process     integer,
  released_at timestamptz,
  expires_at  timestamptz,
  repeats     boolean NOT NULL, -- a refusal that only refers to another call
  item_usd    numeric,
  total_usd   numeric,
  upstream_ms numeric,
  terms       text[] NOT NULL
);

-- The existing slices.
CREATE TABLE search_slice (
  kind  text NOT NULL CHECK (kind IN ('week', 'item', 'total')),
  slice integer NOT NULL,
  PRIMARY KEY (kind, slice)
);

-- How far the records are indexed. All that `done` sees is. Where more is to be done than fits in one go, the next one begins
-- after (after_tx, after_id), and ends at what `target` sees.
CREATE TABLE search_position (
  one      boolean PRIMARY KEY DEFAULT TRUE CHECK (one),
  done     pg_snapshot NOT NULL,
  target   pg_snapshot,
  after_tx xid8,
  after_id uuid
);

-- What the records say of a call ----------------------------------------------------------------------------------------

-- All resolutions. The first one of a call has the call's ID.
CREATE VIEW resolution_history AS
  SELECT intent_id AS id, intent_id, NULL::uuid AS supersedes, outcome, reason, client_id, key_id, actor, resolved_at FROM resolution
  UNION ALL
  SELECT id, intent_id, supersedes, outcome, reason, client_id, key_id, actor, resolved_at FROM resolution_correction;

-- The resolution in effect: at most one for each call. Queries about how a call was settled read this view, never
-- `resolution` alone.
CREATE VIEW current_resolution AS
  SELECT h.* FROM resolution_history h
  WHERE NOT EXISTS (SELECT FROM resolution_correction c WHERE c.supersedes = h.id);

-- The lifecycle of a call (src/operations/lifecycle.ts) in SQL. The recorded state follows from the kind of its outcome,
-- whether it was refused, its resolution, whether it needs an approval, and the decision. If the commit of an intent was
-- falsely reported as failed, the call was refused and never sent.
CREATE FUNCTION recorded_state(outcome text, refused boolean, resolution text, held boolean, decision text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN outcome <> 'unknown' THEN outcome
    WHEN outcome IS NULL AND refused THEN 'refused'
    WHEN resolution IS NOT NULL THEN resolution
    WHEN outcome IS NOT NULL THEN 'unknown'
    WHEN held AND decision IS NULL THEN 'pending_approval'
    WHEN held AND decision = 'rejected' THEN 'declined'
    ELSE 'in_progress'
  END
$$;

-- The state of a call at an instant. A held call is expired from expires_at on. A call in progress is in doubt once its
-- process is gone (live: the live ones) or it was released too long ago.
CREATE FUNCTION state_at(state text, expires_at timestamptz, process integer, released_at timestamptz, instant timestamptz,
  live integer[], given_up_before timestamptz) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN state = 'pending_approval' AND expires_at <= instant THEN 'expired'
    WHEN state = 'in_progress' AND (process <> ALL (live) OR released_at < given_up_before) THEN 'unknown'
    ELSE state
  END
$$;

CREATE VIEW call_state AS
  SELECT i.id AS call_id, i.client_id, i.key_id, i.actor, i.operation, i.request_id, i.client_address, i.idempotency_key,
    i.total_usd, i.expires_at, coalesce(d.process, i.process) AS process, coalesce(d.decided_at, i.recorded_at) AS released_at,
    CASE WHEN o.answer_of IS NULL THEN o.upstream_ms END AS upstream_ms, r.first_call_id IS NOT NULL AS repeats,
    recorded_state(o.kind, r.id IS NOT NULL, s.outcome, i.held_for IS NOT NULL, d.kind) AS state,
    CASE WHEN i.held_for IS NOT NULL AND r.id IS NULL THEN coalesce(d.kind, 'pending') END AS approval
  FROM intent i
  LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN decision d ON d.intent_id = i.id
  LEFT JOIN current_resolution s ON s.intent_id = i.id
  LEFT JOIN refusal r ON r.id = i.id
  UNION ALL
  SELECT id, client_id, key_id, actor, operation, request_id, client_address, idempotency_key,
    NULL, NULL, NULL, NULL, NULL, first_call_id IS NOT NULL, 'refused', NULL
  FROM refusal WHERE NOT EXISTS (SELECT FROM intent WHERE intent.id = refusal.id);

-- The rows of the index as they must be. Terms are written out, because calling an SQL function takes longer than everything
-- else for a term, and Postgres does not inline search_term. The function remains for values that are too long for the
-- index. The transactions of an answer are read once for a call, not once for each of its payouts.
CREATE VIEW call_entry AS
  SELECT c.call_id, coalesce(p.position, -1) AS position, coalesce(p.leads, TRUE) AS leads, c.client_id, c.operation, p.country,
    c.state, c.process, c.released_at, c.expires_at, c.repeats, p.amount_usd::numeric AS item_usd, c.total_usd, c.upstream_ms,
    array_remove(
      ARRAY[
        'week:' || search_week(c.call_id),
        'hour:' || search_hour(c.call_id),
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
    -- A FULL JOIN is hashed or merged, never looped: calls have hundreds of payouts, and their answers as many transactions.
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

-- Rebuilds the entries of these calls. Erasing and pruning call it too. For a few calls of large tables, index lookups are
-- right however old the statistics are.
CREATE FUNCTION reindex_calls(call_ids uuid[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
BEGIN
  DELETE FROM search_entry WHERE call_id = ANY (call_ids);
  WITH entries AS (
    INSERT INTO search_entry SELECT * FROM call_entry WHERE call_id = ANY (call_ids)
    RETURNING call_id, position, item_usd, total_usd
  )
  INSERT INTO search_slice
  SELECT 'week', search_week(call_id) FROM entries
  UNION SELECT 'total', search_step(total_usd) FROM entries
  UNION SELECT 'item', search_step(item_usd) FROM entries WHERE position >= 0
  ON CONFLICT DO NOTHING;
END
$$;

-- Indexes what has committed since it was last asked, about `batch` records of it. A reader that remembered only how far it
-- came would miss what commits late, or read again and again what one long transaction keeps from being final; what a
-- snapshot had seen is known exactly. A call counts as much as it has payouts: a batch of calls with hundreds of them each would
-- take longer than a statement may, and be tried again for ever.
-- @returns whether some of what had committed before it was asked may be left.
CREATE FUNCTION index_calls(batch integer) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
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
    UNION ALL
    (SELECT tx, intent_id FROM resolution_correction WHERE (tx, intent_id) > (at.after_tx, at.after_id)
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

-- Rebuilds the whole index, while searches wait. Building indexes is faster than adding to them.
CREATE FUNCTION rebuild_search_index() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET maintenance_work_mem = '256MB' SET work_mem = '64MB' SET jit = off AS $$
DECLARE
  seen pg_snapshot;
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  TRUNCATE search_entry, search_slice, search_position;
  SELECT pg_current_snapshot() INTO seen;
  ALTER TABLE search_entry DROP CONSTRAINT IF EXISTS search_entry_pkey;
  DROP INDEX IF EXISTS search_entry_item_usd, search_entry_total_usd, search_entry_terms, search_entry_in_progress, search_entry_expires_at;
  INSERT INTO search_entry SELECT * FROM call_entry;
  ALTER TABLE search_entry ADD CONSTRAINT search_entry_pkey PRIMARY KEY (call_id, position);
  CREATE INDEX search_entry_item_usd ON search_entry ((coalesce(item_usd, -1)), call_id, position);
  CREATE INDEX search_entry_total_usd ON search_entry ((coalesce(total_usd, -1)), call_id, position);
  -- A batch stays in the list of what is pending until all of it is sorted in at once, at its end.
  CREATE INDEX search_entry_terms ON search_entry USING gin (terms) WITH (gin_pending_list_limit = 32768);
  -- What depends on how late it is: few calls are in progress or may be approved, among all that once were.
  CREATE INDEX search_entry_in_progress ON search_entry (released_at) WHERE state = 'in_progress';
  CREATE INDEX search_entry_expires_at ON search_entry (expires_at) WHERE expires_at IS NOT NULL;
  INSERT INTO search_slice
  SELECT DISTINCT 'week', search_week(call_id) FROM search_entry
  UNION SELECT DISTINCT 'total', search_step(total_usd) FROM search_entry
  UNION SELECT DISTINCT 'item', search_step(item_usd) FROM search_entry WHERE position >= 0;
  INSERT INTO search_position (done) VALUES (seen);
  ANALYZE search_entry, search_slice;
END
$$;

SELECT rebuild_search_index();

-- Rows change with their outcome, so old versions are vacuumed early.
ALTER TABLE search_entry SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Indexes that earlier searches used on the records.
DROP INDEX intent_client, intent_operation, intent_idempotency_key, intent_held, intent_item_reference, intent_item_upstream_ref,
  outcome_kind, outcome_item_upstream_ref, outcome_item_upstream_id, outcome_item_batch_ref,
  refusal_client, refusal_operation, refusal_idempotency_key;

-- Rights --------------------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION reindex_calls(uuid[]), index_calls(integer), rebuild_search_index() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_calls(integer) TO payout_proxy;
GRANT SELECT ON search_entry, search_slice, resolution_history, current_resolution TO payout_proxy;
