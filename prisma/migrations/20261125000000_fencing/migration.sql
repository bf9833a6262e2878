-- Fencing: what tells a database, a process or a clock that has come back from the past.

-- The oldest program that may run on a database with a migration, by the last migration of that program. Each migration adds its
-- own row, because an older program does not have its file (src/platform/database/migrations/applied-migrations.ts).
CREATE TABLE migration_compatibility (
  migration      text PRIMARY KEY,
  oldest_program text NOT NULL CHECK (oldest_program <= migration)
);
GRANT SELECT ON migration_compatibility TO payout_proxy;
INSERT INTO migration_compatibility VALUES ('20261125000000_fencing', '20261124000000_init');

-- The instances, each with the number of its durable writes (src/continuity/heartbeat/heartbeat.service.ts). A row is written every
-- second. An instance that finds a smaller number than it has seen knows that commits were lost. This is work, not a record.
CREATE TABLE instance (
  id      uuid PRIMARY KEY, -- random, of one process or of one DATA_DIR
  beat    bigint NOT NULL CHECK (beat > 0),
  beat_at timestamptz NOT NULL, -- by the database's clock
  server  text -- database_server(); null if the instance does not pay
) WITH (fillfactor = 50); -- leaves room for updates within the page

GRANT SELECT, INSERT, UPDATE ON instance TO payout_proxy;

-- How long a request of each process can be in flight. Another instance may run with shorter timeouts, and must not settle a
-- call while the process that released it may still send it (src/journal/settlement/settlements.ts).
CREATE TABLE process (
  number       integer PRIMARY KEY, -- intent.process and decision.process
  in_flight_ms integer NOT NULL CHECK (in_flight_ms > 0), -- after its release, nothing of a call is in flight any more
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

GRANT SELECT, INSERT, UPDATE ON process TO payout_proxy;

-- A change of a client or a new key that waits for a second person (src/access/governance/governance.service.ts). The request, the
-- decision and the change itself are acts, so this is work, not a record.
CREATE TABLE pending_change (
  id                 uuid PRIMARY KEY, -- UUIDv7
  kind               text NOT NULL CHECK (kind IN ('create_client', 'change_client', 'issue_key')),
  client             text NOT NULL, -- the name of the changed client
  widens             text[] NOT NULL, -- what needs a second person, by the names of the API
  before             text, -- what the client may do, and its keys, as JSON; null: it does not exist
  change             text NOT NULL, -- as JSON; of a key, its SHA-256 and never the key
  reason             text,
  client_id          uuid NOT NULL, -- who requested it
  key_id             uuid NOT NULL,
  person             text NOT NULL,
  requested_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at         timestamptz NOT NULL,
  status             text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'rejected', 'superseded')),
  decided_at         timestamptz,
  decision_reason    text,
  decider_client_id  uuid,
  decider_key_id     uuid,
  decider_person     text,
  CHECK ((status = 'pending') = (decided_at IS NULL)),
  CHECK (decider_key_id <> key_id AND lower(decider_person) <> lower(person))
);
CREATE INDEX pending_change_status ON pending_change (status, id);

GRANT SELECT, INSERT, UPDATE ON pending_change TO payout_proxy;

-- key_paid_twice: two calls of one client and operation with the same idempotency key, both of which were paid or may have been.
-- database_recovered: an epoch of the database has begun. change_requested, change_approved, change_rejected: a change waits for a
-- second person, who decides. emergency_change: one person has made a change that needs two. dual_control_changed: by a start.
ALTER TABLE activity DROP CONSTRAINT activity_action_check, ADD CONSTRAINT activity_action_check CHECK (action IN (
  'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
  'wallet_recovered', 'key_paid_twice', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
  'emergency_change', 'dual_control_changed'));
ALTER TABLE activity DROP CONSTRAINT activity_via_check, ADD CONSTRAINT activity_via_check CHECK (via IN (
  'api', 'console', 'cli', 'start', 'worker', 'proxy'));

-- Returns the server: its system identifier and its timeline. A dump that is restored elsewhere gets another system identifier. A
-- promotion and a point-in-time recovery begin another timeline. Null on a standby.
CREATE FUNCTION database_server() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) || '/'
    || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END
$$;

-- The epochs of the history of this database. The next one begins when commits were lost and a person has had what is known of
-- them restored (database recover). Instances compare it with the epoch that they have seen (src/continuity/fence/epoch.service.ts).
CREATE TABLE epoch (
  number     integer PRIMARY KEY CHECK (number > 0),
  reason     text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The server on which the history is known to be complete. An instance that has worked with the database before, and misses
  -- nothing, updates it after a move. An instance without evidence does not pay on another server.
  server     text NOT NULL DEFAULT database_server(),
  -- When the history came to this server, by its clock: at a move that was confirmed, or when a recovery began the epoch. Null: it
  -- has been there from its beginning. The clock of the server before may have been another one (src/journal/settlement/settlements.ts)
  moved_at   timestamptz,
  -- The start of the time whose payments may be missing. It ends when the epoch begins. Null: nothing was lost
  lost_from  timestamptz CHECK (lost_from < started_at),
  run_id     uuid, -- the run that reads that time from the upstream's list
  CHECK ((lost_from IS NULL) = (run_id IS NULL))
);
INSERT INTO epoch (number, reason) VALUES (1, 'The database was created.');

GRANT SELECT, INSERT, UPDATE ON epoch TO payout_proxy;
GRANT SELECT ON epoch TO payout_sealer; -- which lets go of what it knew of the epoch before

-- A stop that the proxy sets by itself has a cause. One with the cause database_behind is lifted by a person like any other, but
-- only once the epoch in which it was set is over.
ALTER TABLE stop ADD COLUMN cause text CHECK (cause = 'database_behind'), -- null: a person set it
  ADD COLUMN epoch integer, -- in which it was set; null without a cause
  ADD COLUMN via text CHECK (via IN ('api', 'console')); -- null: a command, or the proxy itself
ALTER TABLE stop_lift ADD COLUMN unreconciled boolean, -- whether it was lifted without a reading of the lost time; null: no
  ADD COLUMN via text CHECK (via IN ('api', 'console')); -- null: a command

-- Payments of a lost time that the upstream lists and no call explains, one row for each name of the recipient. A request for the
-- same recipient and amount may be the retry of a payment whose record is lost, so it is held for an approval. The rows of a
-- finding are removed once it is decided. This is work, not a record.
CREATE TABLE unexplained_payment (
  recipient     bytea NOT NULL, -- SHA-256 of the name
  finding_id    uuid NOT NULL,
  usd           numeric, -- null: no readable one
  tolerance_usd numeric NOT NULL, -- of the run that saw it
  PRIMARY KEY (recipient, finding_id)
);
CREATE INDEX unexplained_payment_finding ON unexplained_payment (finding_id);

GRANT SELECT, INSERT, DELETE ON unexplained_payment TO payout_proxy;

-- Returns whether nothing stands against calls, as before. While a lost payment is unexplained, calls are decided by the state that
-- src/journal/admission/state.ts reads.
CREATE OR REPLACE FUNCTION nothing_against(clients uuid[], usd numeric[], key_ids uuid[], rights text[], on_day date, known_fees bigint, client_of uuid[], operations text[], keys text[],
  contents bytea[]) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  clear boolean;
BEGIN
  PERFORM FROM client WHERE id = ANY (clients) ORDER BY id FOR NO KEY UPDATE;
  SELECT current_setting('transaction_isolation') = 'read committed'
    AND on_day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    AND NOT EXISTS (SELECT changed_keys(key_ids, rights))
    AND NOT EXISTS (SELECT FROM fee_share WHERE number > known_fees)
    AND NOT EXISTS (SELECT FROM stop WHERE NOT EXISTS (SELECT FROM stop_lift l WHERE l.stop_id = stop.id))
    AND NOT EXISTS (SELECT FROM unexplained_payment)
    AND NOT EXISTS (
      SELECT FROM unnest(client_of, operations, keys, contents) AS a(client_id, operation, key, content)
      WHERE EXISTS (SELECT FROM idempotency_claim c
          WHERE c.client_id = a.client_id AND c.operation = a.operation AND c.key = a.key OFFSET 0)
        OR EXISTS (SELECT FROM recent_content r
          WHERE r.content = a.content OFFSET 0))
    AND NOT EXISTS (
      SELECT FROM unnest(clients, usd) AS a(client_id, usd) JOIN client c ON c.id = a.client_id
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0) AS today, coalesce(sum(s.usd), 0) AS month
        FROM spending s WHERE s.client_id = a.client_id AND s.day >= date_trunc('month', on_day::timestamp)::date) AS spent
      WHERE spent.today + a.usd > c.daily_cap_usd OR spent.month + a.usd > c.monthly_cap_usd)
  INTO clear;
  RETURN clear;
END
$$;

-- Fills the search index as before, and no longer hides records that were restored from another server.
CREATE OR REPLACE FUNCTION index_calls(batch integer) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan SET jit = off AS $$
DECLARE
  at search_position;
  resumed boolean;
  foreign_from xid8;
  next record;
BEGIN
  IF NOT (SELECT built OR target IS NOT NULL FROM search_position) THEN
    RETURN 'unbuilt'; -- That may take many minutes, so nobody waits for the lock.
  END IF;
  -- LOCKS.searchIndex of src/platform/database/locks.ts. A statement that waited here indexes what arrived meanwhile.
  PERFORM pg_advisory_xact_lock(7070010);
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
  -- Records that were restored from another server may have numbers that this server has not reached. They are read when the
  -- index is filled from its beginning.
  IF pg_snapshot_xmax(at.done) = '3' THEN
    foreign_from := pg_snapshot_xmax(pg_current_snapshot());
  END IF;
  WITH changed AS (
    (SELECT tx, id, item_count FROM intent WHERE (tx, id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM outcome WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, id, 0 FROM refusal WHERE (tx, id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM decision WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    UNION ALL
    (SELECT tx, intent_id, NULL FROM settlement WHERE (tx, intent_id) > (at.after_tx, at.after_id)
       AND (pg_visible_in_snapshot(tx, at.target) AND NOT pg_visible_in_snapshot(tx, at.done) OR tx >= foreign_from) ORDER BY 1, 2 LIMIT batch)
    ORDER BY 1, 2 LIMIT batch
  ), weighed AS (
    SELECT tx, id, coalesce(sum(1 + coalesce(item_count, (SELECT i.item_count FROM intent i WHERE i.id = changed.id), 0))
      OVER (ORDER BY tx, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
    FROM changed
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

-- Space that is kept free for outcomes (src/continuity/space/reserve.ts): rows without meaning, one for each page. It is not logged,
-- so it costs no WAL, and a crash leaves it empty. It has no text, whose TOAST index would need a page of a full disk to be
-- emptied. Half a kilobyte is more than a tenth of a page can take twice.
CREATE UNLOGGED TABLE space_reserve (
  a name NOT NULL DEFAULT '', b name NOT NULL DEFAULT '', c name NOT NULL DEFAULT '', d name NOT NULL DEFAULT '',
  e name NOT NULL DEFAULT '', f name NOT NULL DEFAULT '', g name NOT NULL DEFAULT '', h name NOT NULL DEFAULT ''
) WITH (fillfactor = 10);

-- Builds the reserve if it is smaller than wanted, and returns its bytes. It is only built if there is space for as much again.
-- If there is not, everything is taken back, because a new file is removed with its transaction.
CREATE FUNCTION keep_space_reserve(wanted bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  pages bigint := wanted / 8192;
BEGIN
  IF pg_relation_size('space_reserve') >= pages * 8192 THEN
    RETURN pg_relation_size('space_reserve');
  END IF;
  LOCK TABLE space_reserve IN ACCESS EXCLUSIVE MODE;
  IF pg_relation_size('space_reserve') < pages * 8192 THEN -- another instance may have built it meanwhile
    TRUNCATE space_reserve;
    INSERT INTO space_reserve (a) SELECT '' FROM generate_series(1, 2 * pages);
    TRUNCATE space_reserve;
    INSERT INTO space_reserve (a) SELECT '' FROM generate_series(1, pages);
  END IF;
  RETURN pg_relation_size('space_reserve');
END
$$;

-- Gives the reserved space back to the disk, and returns how many bytes that were.
CREATE FUNCTION release_space_reserve() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
  bytes bigint;
BEGIN
  LOCK TABLE space_reserve IN ACCESS EXCLUSIVE MODE;
  bytes := pg_relation_size('space_reserve');
  IF bytes > 0 THEN
    TRUNCATE space_reserve;
  END IF;
  RETURN bytes;
END
$$;

REVOKE EXECUTE ON FUNCTION keep_space_reserve(bigint), release_space_reserve() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION keep_space_reserve(bigint), release_space_reserve() TO payout_proxy;
