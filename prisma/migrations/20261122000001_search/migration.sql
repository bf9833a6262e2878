-- The search index. Auditors search the history with it. It is derived from the records and can be rebuilt from them at any time.
-- It only finds calls. Their content is read from the records, which are sealed.
--
-- Each call has one entry. Everything that is searched for exactly is one of its `terms`, with a tag in front ('client:…',
-- 'country:Kenya'). One GIN index over the terms answers any combination of filters by intersecting lists of entries, so two
-- filters that each match a fifth of all calls and together none cost little. Filters of payouts must hold for the same payout,
-- so an entry also has the terms of each payout by itself, which are checked for the calls that the GIN index finds.
--
-- The tables are UNLOGGED. They need no write-ahead log, because they are derived. After a crash of Postgres and on a promoted
-- standby they are all empty, and index_calls() fills them again.

-- Terms ---------------------------------------------------------------------------------------------------------------

-- A GIN key has a limit of 2,712 bytes, so longer values are replaced by their hash (src/journal/terms.ts does the same). A line
-- break separates terms.
CREATE FUNCTION search_value(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN length(value) <= 300 AND strpos(value, E'\n') = 0 THEN nullif(value, '')
    ELSE left(replace(value, E'\n', ' '), 200) || '#' || encode(sha256(convert_to(value, 'UTF8')), 'hex') END
$$;

-- The beginnings of a contact, at four lengths. A search by prefix looks up the longest beginning that it covers.
CREATE FUNCTION search_beginnings(contact text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT string_agg(E'\n^' || left(lower(contact), size), '') FROM unnest('{3,5,7,10}'::integer[]) AS size WHERE length(lower(contact)) >= size
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

CREATE UNLOGGED TABLE search_entry (
  call_id     uuid PRIMARY KEY,
  client_id   uuid NOT NULL,
  operation   text NOT NULL,
  state       text NOT NULL, -- see call_state
  process     integer,
  released_at timestamptz,
  expires_at  timestamptz,
  repeats     boolean NOT NULL, -- a refusal that only refers to another call
  total_usd   numeric,
  upstream_ms numeric,
  item_usd    numeric[] NOT NULL, -- of each payout
  payouts     text[] NOT NULL, -- the terms of each payout, each after a line break
  refs        text[] NOT NULL, -- the terms of the transactions: first of those without a certain payout, then of each payout
  terms       text[] COLLATE "C" NOT NULL -- all of them, and those of the call
);

-- The payouts in the order of their amounts. -1 is for none.
CREATE UNLOGGED TABLE search_item (
  usd      numeric NOT NULL,
  call_id  uuid NOT NULL,
  position integer NOT NULL, -- of the payout, from 0
  PRIMARY KEY (usd, call_id, position)
);

-- The existing slices.
CREATE UNLOGGED TABLE search_slice (
  kind  text NOT NULL CHECK (kind IN ('week', 'item', 'total')),
  slice integer NOT NULL,
  PRIMARY KEY (kind, slice)
);

-- How far the records are indexed. All that `done` sees is. Where more is to be done than fits in one go, the next one begins
-- after (after_tx, after_id), and ends at what `target` sees. Without a row, nothing is indexed.
CREATE UNLOGGED TABLE search_position (
  one      boolean PRIMARY KEY DEFAULT TRUE CHECK (one),
  done     pg_snapshot NOT NULL,
  target   pg_snapshot,
  after_tx xid8,
  after_id uuid,
  built    boolean NOT NULL -- whether the tables have their indexes
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

-- The terms of the payouts of a call, as src/journal/terms.ts makes them.
CREATE VIEW payout_terms AS
  SELECT n.intent_id AS call_id, array_agg(n.amount_usd::numeric ORDER BY n.position) AS item_usd, array_agg(concat(
      E'\nitem:' || search_step(n.amount_usd), E'\ncountry:' || search_value(n.country), E'\nnetwork:' || search_value(n.network_code),
      E'\nreference:' || search_value(n.reference), E'\nref:' || search_value(n.upstream_ref), E'\nto:' || search_value(lower(r.email)),
      E'\nto:' || search_value(lower(r.phone)), E'\nto:' || search_value(lower(r.handle)), E'\nreceiver:' || search_value(n.receiver),
      search_beginnings(r.email), search_beginnings(r.phone), search_beginnings(r.handle), search_beginnings(n.receiver)
    ) ORDER BY n.position) AS payouts
  FROM intent_item n LEFT JOIN item_recipient r ON r.intent_id = n.intent_id AND r.position = n.position
  GROUP BY n.intent_id;

-- The terms of the transactions of an answer: first of those without a certain payout, then of each payout.
CREATE VIEW transaction_terms AS
  SELECT call_id, array_agg(lines ORDER BY place) AS refs FROM (
    SELECT call_id, place, string_agg(line, '') AS lines FROM (
      SELECT intent_id AS call_id, coalesce(position, -1) AS place, concat(E'\nref:' || search_value(upstream_ref),
        E'\nref:' || search_value(upstream_id), E'\nref:' || search_value(batch_ref)) AS line
      FROM outcome_item
      UNION ALL
      SELECT intent_id, generate_series(-1, coalesce(max(position), -1)), '' FROM outcome_item GROUP BY intent_id
    ) AS lines GROUP BY call_id, place
  ) AS places GROUP BY call_id;

-- The entries as they must be.
CREATE VIEW call_entry AS
  SELECT c.call_id, c.client_id, c.operation, c.state, c.process, c.released_at, c.expires_at, c.repeats, c.total_usd, c.upstream_ms,
    coalesce(p.item_usd, '{}') AS item_usd, coalesce(p.payouts, '{}') AS payouts, coalesce(t.refs, '{}') AS refs,
    string_to_array(concat(
      'week:', search_week(c.call_id), E'\nhour:', search_hour(c.call_id), E'\ntotal:', search_step(c.total_usd),
      E'\nclient:', c.client_id, E'\nkey:', c.key_id, E'\nstate:', c.state, E'\napproval:' || c.approval,
      E'\noperation:' || CASE WHEN length(c.operation) > 300 THEN search_value(c.operation) ELSE nullif(c.operation, '') END,
      E'\nactor:' || CASE WHEN length(c.actor) > 300 THEN search_value(c.actor) ELSE nullif(c.actor, '') END,
      E'\nidempotency:' || CASE WHEN length(c.idempotency_key) > 300 THEN search_value(c.idempotency_key) ELSE nullif(c.idempotency_key, '') END,
      E'\nrequest:' || CASE WHEN length(c.request_id) > 300 THEN search_value(c.request_id) ELSE nullif(c.request_id, '') END,
      E'\naddress:' || CASE WHEN length(c.client_address) > 300 THEN search_value(c.client_address) ELSE nullif(c.client_address, '') END,
      array_to_string(p.payouts, ''), array_to_string(t.refs, '')), E'\n') AS terms
  FROM call_state c
  LEFT JOIN LATERAL (SELECT * FROM payout_terms o WHERE o.call_id = c.call_id OFFSET 0) AS p ON TRUE
  LEFT JOIN LATERAL (SELECT * FROM transaction_terms o WHERE o.call_id = c.call_id OFFSET 0) AS t ON TRUE;

-- Keeping it --------------------------------------------------------------------------------------------------------------

-- Rebuilds the entries of these calls. Erasing and pruning call it too. For a few calls of large tables, index lookups are
-- right however old the statistics are.
CREATE FUNCTION reindex_calls(call_ids uuid[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
BEGIN
  WITH old AS (
    DELETE FROM search_entry WHERE call_id = ANY (call_ids) RETURNING call_id, item_usd
  )
  DELETE FROM search_item i USING old CROSS JOIN LATERAL unnest(old.item_usd) WITH ORDINALITY AS p(usd, place)
  WHERE i.usd = coalesce(p.usd, -1) AND i.call_id = old.call_id AND i.position = p.place - 1;
  WITH entries AS MATERIALIZED (
    INSERT INTO search_entry SELECT * FROM call_entry WHERE call_id = ANY (call_ids) RETURNING call_id, item_usd, total_usd
  ), items AS MATERIALIZED (
    SELECT p.usd, e.call_id, p.place - 1 AS position
    FROM entries e CROSS JOIN LATERAL unnest(e.item_usd) WITH ORDINALITY AS p(usd, place)
  ), added AS (
    INSERT INTO search_item SELECT coalesce(usd, -1), call_id, position FROM items
  )
  INSERT INTO search_slice
  SELECT 'week', search_week(call_id) FROM entries
  UNION SELECT 'total', search_step(total_usd) FROM entries
  UNION SELECT 'item', search_step(usd) FROM items
  ON CONFLICT DO NOTHING;
END
$$;

-- While the index is filled from the beginning, it has only primary keys. Building the others is faster than adding to them.
CREATE FUNCTION drop_search_indexes() RETURNS void LANGUAGE sql SET search_path = pg_catalog, public, pg_temp AS $$
  DROP INDEX IF EXISTS search_entry_terms, search_entry_total_usd, search_entry_in_progress, search_entry_expires_at;
$$;

CREATE FUNCTION build_search_indexes() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET maintenance_work_mem = '256MB' AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  IF (SELECT built FROM search_position) THEN
    RETURN;
  END IF;
  CREATE INDEX search_entry_total_usd ON search_entry ((coalesce(total_usd, -1)), call_id);
  -- A batch stays in the list of what is pending until all of it is sorted in at once, at its end.
  CREATE INDEX search_entry_terms ON search_entry USING gin (terms) WITH (gin_pending_list_limit = 32768);
  -- What depends on how late it is: few calls are in progress or may be approved, among all that once were.
  CREATE INDEX search_entry_in_progress ON search_entry (released_at) WHERE state = 'in_progress';
  CREATE INDEX search_entry_expires_at ON search_entry (expires_at) WHERE expires_at IS NOT NULL;
  ANALYZE search_entry, search_item, search_slice;
  UPDATE search_position SET built = TRUE;
END
$$;

-- Indexes what has committed since it was last asked, about `batch` records of it. A reader that remembered only how far it
-- came would miss what commits late, or read again and again what one long transaction keeps from being final; what a
-- snapshot had seen is known exactly. A call counts as much as it has payouts: a batch of calls with hundreds of them each would
-- take longer than a statement may, and be tried again for ever.
-- @returns 'done', or 'more' if some of what had committed before it was asked may be left, or 'unbuilt' if all entries are there
-- and build_search_indexes() must build the indexes.
CREATE FUNCTION index_calls(batch integer) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
  at search_position;
  resumed boolean;
  next record;
BEGIN
  IF NOT (SELECT built OR target IS NOT NULL FROM search_position) THEN
    RETURN 'unbuilt'; -- That may take many minutes, so nobody waits for the lock.
  END IF;
  PERFORM pg_advisory_xact_lock(7070010); -- One at a time: a statement that waited here indexes what arrived meanwhile.
  SELECT * INTO at FROM search_position;
  IF NOT FOUND THEN
    PERFORM drop_search_indexes();
    INSERT INTO search_position (done, built) VALUES ('3:3:', FALSE) RETURNING * INTO STRICT at;
  END IF;
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
  IF next.rows = 0 AND NOT resumed AND at.built THEN
    RETURN 'done'; -- Nothing to write: a search changes nothing if the index is up to date.
  END IF;
  IF next.rows > 0 THEN
    PERFORM reindex_calls(next.ids);
    IF at.built THEN
      PERFORM gin_clean_pending_list('search_entry_terms'); -- A search would otherwise read the list entry by entry.
    END IF;
  END IF;
  IF next.rows < batch AND next.rows = next.found THEN
    UPDATE search_position SET done = at.target, target = NULL, after_tx = NULL, after_id = NULL;
    RETURN CASE WHEN NOT at.built THEN 'unbuilt' WHEN resumed THEN 'more' ELSE 'done' END; -- Records that were committed after the target was set are left for the next call.
  END IF;
  -- The last transaction may have written to several tables for one call. They are read in order, so nothing earlier is
  -- left.
  UPDATE search_position SET target = at.target, after_tx = next.tx, after_id = next.id;
  RETURN 'more';
END
$$;

-- How much of the index is rebuilt, from 0 to 1, by the numbers of transactions.
CREATE FUNCTION search_progress() RETURNS double precision LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT coalesce((SELECT CASE WHEN built THEN 1 WHEN target IS NULL THEN 0.99
      ELSE 0.99 * after_tx::text::float8 / pg_snapshot_xmax(target)::text::float8 END FROM search_position), 0)
$$;

-- Rebuilds the whole index at once, while searches wait.
CREATE FUNCTION rebuild_search_index() RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public, pg_temp SET work_mem = '64MB' SET jit = off AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7070010);
  TRUNCATE search_entry, search_item, search_slice, search_position;
  PERFORM drop_search_indexes();
  INSERT INTO search_position (done, built) SELECT pg_current_snapshot(), FALSE;
  INSERT INTO search_entry SELECT * FROM call_entry;
  INSERT INTO search_item SELECT coalesce(p.usd, -1), call_id, p.place - 1
    FROM search_entry CROSS JOIN LATERAL unnest(item_usd) WITH ORDINALITY AS p(usd, place);
  INSERT INTO search_slice
  SELECT DISTINCT 'week', search_week(call_id) FROM search_entry
  UNION SELECT DISTINCT 'total', search_step(total_usd) FROM search_entry
  UNION SELECT DISTINCT 'item', search_step(nullif(usd, -1)) FROM search_item;
  PERFORM build_search_indexes();
END
$$;

SELECT rebuild_search_index();

-- Reading it ----------------------------------------------------------------------------------------------------------------

-- An index that is not complete would hide calls. Everybody reads it through these views, which fail until it is.
CREATE FUNCTION search_is_complete() RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM search_position WHERE built) THEN
    RETURN TRUE;
  END IF;
  RAISE EXCEPTION 'the search index is being rebuilt' USING ERRCODE = 'cannot_connect_now';
END
$$;

CREATE VIEW indexed_call AS SELECT * FROM search_entry WHERE (SELECT search_is_complete());
CREATE VIEW indexed_item AS SELECT * FROM search_item WHERE (SELECT search_is_complete());
CREATE VIEW indexed_slice AS SELECT * FROM search_slice WHERE (SELECT search_is_complete());

-- Rows change with their outcome, so old versions are vacuumed early.
ALTER TABLE search_entry SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Indexes that earlier searches used on the records.
DROP INDEX intent_client, intent_operation, intent_idempotency_key, intent_held, intent_item_reference, intent_item_upstream_ref,
  outcome_kind, outcome_item_upstream_ref, outcome_item_upstream_id, outcome_item_batch_ref,
  refusal_client, refusal_operation, refusal_idempotency_key;

-- Rights --------------------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION reindex_calls(uuid[]), index_calls(integer), drop_search_indexes(), build_search_indexes(), search_progress(),
  rebuild_search_index(), search_is_complete() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION index_calls(integer), build_search_indexes(), search_progress(), search_is_complete() TO payout_proxy;
GRANT SELECT ON indexed_call, indexed_item, indexed_slice, resolution_history, current_resolution TO payout_proxy;
