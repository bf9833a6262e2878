-- Corrections of resolutions. A person can correct a call that the resolver or a person settled wrongly. The first
-- resolution stays on record, and each correction names the resolution that it supersedes.

-- Records -------------------------------------------------------------------------------------------------------------

CREATE TABLE resolution_correction (
  id          uuid PRIMARY KEY, -- UUIDv7
  intent_id   uuid NOT NULL,
  supersedes  uuid NOT NULL UNIQUE, -- the id of another correction, or of the call for the first resolution
  verdict     text NOT NULL CHECK (verdict IN ('confirmed', 'not_executed')),
  reason      text NOT NULL,
  reserves    boolean NOT NULL, -- whether it reserved a released amount again
  client_id   uuid NOT NULL, -- who corrected it
  key_id      uuid NOT NULL,
  actor       text,
  resolved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX resolution_correction_intent ON resolution_correction (intent_id);
CREATE INDEX resolution_correction_tx ON resolution_correction (tx, id);
CREATE INDEX resolution_correction_tx_intent ON resolution_correction (tx, intent_id); -- for the search index

-- Corrections that reserved again, and whose reservation was released later by another correction or a late outcome.
CREATE TABLE correction_release (
  correction_id uuid PRIMARY KEY,
  intent_id     uuid NOT NULL,
  released_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx            xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX correction_release_tx ON correction_release (tx, correction_id);
CREATE INDEX correction_release_intent ON correction_release (intent_id);

DO $$
DECLARE
  record text;
BEGIN
  FOREACH record IN ARRAY ARRAY['resolution_correction', 'correction_release'] LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', record);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', record);
  END LOOP;
END
$$;

-- What the records say of a call ----------------------------------------------------------------------------------------

-- All resolutions. The first one of a call has the call's ID.
CREATE VIEW resolution_history AS
  SELECT intent_id AS id, intent_id, NULL::uuid AS supersedes, verdict, reason, client_id, key_id, actor, resolved_at FROM resolution
  UNION ALL
  SELECT id, intent_id, supersedes, verdict, reason, client_id, key_id, actor, resolved_at FROM resolution_correction;

-- The resolution in effect: at most one for each call. Queries about how a call was settled read this view, never
-- `resolution` alone.
CREATE VIEW current_resolution AS
  SELECT h.* FROM resolution_history h
  WHERE NOT EXISTS (SELECT FROM resolution_correction c WHERE c.supersedes = h.id);

-- As before, but with the resolution in effect.
CREATE OR REPLACE VIEW call_state AS
  SELECT i.id AS call_id, i.client_id, i.key_id, i.actor, i.operation, i.request_id, i.client_address, i.idempotency_key,
    i.total_usd, i.expires_at, coalesce(d.process, i.process) AS process, coalesce(d.decided_at, i.recorded_at) AS released_at,
    CASE WHEN o.answer_of IS NULL THEN o.upstream_ms END AS upstream_ms, r.first_call_id IS NOT NULL AS repeats,
    recorded_state(o.kind, r.id IS NOT NULL, s.verdict, i.held_for IS NOT NULL, d.verdict) AS state,
    CASE WHEN i.held_for IS NOT NULL AND r.id IS NULL THEN coalesce(d.verdict, 'pending') END AS approval
  FROM intent i
  LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN decision d ON d.intent_id = i.id
  LEFT JOIN current_resolution s ON s.intent_id = i.id
  LEFT JOIN refusal r ON r.id = i.id
  UNION ALL
  SELECT id, client_id, key_id, actor, operation, request_id, client_address, idempotency_key,
    NULL, NULL, NULL, NULL, NULL, first_call_id IS NOT NULL, 'refused', NULL
  FROM refusal WHERE NOT EXISTS (SELECT FROM intent WHERE intent.id = refusal.id);

-- As before, and follows corrections.
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

-- Money ---------------------------------------------------------------------------------------------------------------

-- Until its transaction ends, no other transaction can correct the resolution of this call or release its reservation.
CREATE FUNCTION lock_resolution(intent_id uuid) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7070013, hashtext(intent_id::text))
$$;

-- As before, and also releases what a correction reserved again. Corrections and releases of a settled call take turns.
-- If an outcome commits while a correction reserves again, either it sees that reservation, or the correction sees the
-- outcome.
CREATE OR REPLACE FUNCTION release_reservations(intent_ids uuid[]) RETURNS void LANGUAGE sql AS $$
  SELECT lock_resolution(settled.intent_id)
  FROM (SELECT intent_id FROM resolution WHERE intent_id = ANY (intent_ids) ORDER BY intent_id) AS settled;
  WITH reserved AS (
    SELECT i.id, i.client_id, coalesce(i.reserved_on, d.reserved_on) AS day, i.total_usd AS usd
    FROM intent i LEFT JOIN decision d ON d.intent_id = i.id
    WHERE i.id = ANY (intent_ids) AND coalesce(i.reserved_on, d.reserved_on) IS NOT NULL AND i.total_usd IS NOT NULL
  ), first AS (
    INSERT INTO reservation_release (intent_id) SELECT id FROM reserved ORDER BY id ON CONFLICT DO NOTHING RETURNING intent_id
  ), again AS (
    INSERT INTO correction_release (correction_id, intent_id)
    SELECT c.id, c.intent_id FROM resolution_correction c JOIN reserved r ON r.id = c.intent_id WHERE c.reserves
    ORDER BY c.id ON CONFLICT DO NOTHING RETURNING intent_id
  ), fresh AS (
    SELECT intent_id FROM first UNION ALL SELECT intent_id FROM again
  ), released AS (
    SELECT r.client_id, r.day, sum(r.usd) AS usd FROM reserved r JOIN fresh f ON f.intent_id = r.id GROUP BY 1, 2
  ), locked AS (
    SELECT s.client_id, s.day, r.usd FROM spending s JOIN released r USING (client_id, day)
    ORDER BY s.client_id, s.day FOR UPDATE OF s
  )
  UPDATE spending s SET usd = s.usd - l.usd FROM locked l WHERE s.client_id = l.client_id AND s.day = l.day
$$;

-- What auditors see ---------------------------------------------------------------------------------------------------

-- As before, the resolution in effect. audit.resolution_history also has the superseded ones.
CREATE OR REPLACE VIEW audit.resolutions AS
  SELECT intent_id AS call_id, verdict, audit.mask_prose(reason) AS reason, client_id, key_id,
    audit.mask_contacts(actor) AS actor, resolved_at, id, supersedes
  FROM public.current_resolution;

CREATE VIEW audit.resolution_history AS
  SELECT id, intent_id AS call_id, supersedes, verdict, audit.mask_prose(reason) AS reason, client_id, key_id,
    audit.mask_contacts(actor) AS actor, resolved_at
  FROM public.resolution_history;

CREATE VIEW audit.correction_releases AS
  SELECT correction_id, intent_id AS call_id, released_at FROM public.correction_release;

-- Rights --------------------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT ON resolution_correction, correction_release TO payout_proxy;
GRANT SELECT ON resolution_history, current_resolution TO payout_proxy;
GRANT SELECT ON resolution_correction, correction_release TO payout_sealer;
GRANT SELECT ON audit.resolution_history, audit.correction_releases TO payout_auditor;
