-- What keeps money safe: keys against paying twice, caps, approvals, the stop switch, and what became of calls in doubt.
--   records   decision, resolution, resolution_correction, stop, stop_lift: rows are only ever added, as those of the first migration
--   work      idempotency_claim, recent_content, spending, request_window: what admission needs at hand, made of the records

-- Clients and keys ----------------------------------------------------------------------------------------------------

-- Null or an empty list means no limit.
ALTER TABLE client
  ADD COLUMN daily_cap_usd           numeric(20,6) CHECK (daily_cap_usd >= 0),
  ADD COLUMN monthly_cap_usd         numeric(20,6) CHECK (monthly_cap_usd >= 0),
  ADD COLUMN max_item_usd            numeric(20,6) CHECK (max_item_usd >= 0),
  ADD COLUMN max_call_usd            numeric(20,6) CHECK (max_call_usd >= 0),
  ADD COLUMN approval_over_usd       numeric(20,6) CHECK (approval_over_usd >= 0),
  ADD COLUMN max_items               integer CHECK (max_items > 0),
  ADD COLUMN requests_per_minute     integer CHECK (requests_per_minute > 0),
  ADD COLUMN countries               text[] NOT NULL DEFAULT '{}',
  ADD COLUMN addresses               text[] NOT NULL DEFAULT '{}', -- CIDR blocks that it may call from
  ADD COLUMN origins                 text[] NOT NULL DEFAULT '{}', -- web origins whose pages may call (CORS)
  ADD COLUMN require_idempotency_key boolean NOT NULL DEFAULT false;

-- The person who owns the key, if there is one. People cannot approve their own requests.
ALTER TABLE api_key ADD COLUMN person text;

-- Records -------------------------------------------------------------------------------------------------------------

-- The process that works on a call. Each process holds an advisory lock with its number while it lives. An intent
-- without an outcome whose process is gone is in doubt at once.
CREATE SEQUENCE process_number AS integer CYCLE;

ALTER TABLE intent
  ADD COLUMN idempotency_key text,
  ADD COLUMN actor           text, -- the person or end user for whom the app asks, as it states
  ADD COLUMN held_for        text, -- why it needs an approval; null: none
  ADD COLUMN expires_at      timestamptz(3), -- when a held call expires
  ADD COLUMN reserved_on     date, -- the day (UTC) on whose cap it counts; null: none, or its decision's
  ADD COLUMN process         integer;
CREATE INDEX intent_idempotency_key ON intent (client_id, idempotency_key, id) WHERE idempotency_key IS NOT NULL;
CREATE INDEX intent_held ON intent (id) WHERE held_for IS NOT NULL;

ALTER TABLE outcome ADD COLUMN attempts smallint NOT NULL DEFAULT 1; -- more than one only for reads

ALTER TABLE refusal
  ADD COLUMN idempotency_key text,
  ADD COLUMN actor           text,
  ADD COLUMN first_call_id   uuid; -- the call that this one repeats
CREATE INDEX refusal_idempotency_key ON refusal (client_id, idempotency_key, id) WHERE idempotency_key IS NOT NULL;

-- Whether a held call may be sent. There is one for each call, so of two approvers, the first wins.
CREATE TABLE decision (
  intent_id       uuid PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('approved', 'rejected')),
  reason          text NOT NULL,
  body_commitment bytea, -- the hash of what the approver saw, checked again before the call is sent
  client_id       uuid NOT NULL, -- who decided
  key_id          uuid NOT NULL,
  actor           text,
  decided_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  reserved_on     date,
  process         integer NOT NULL -- the process that sends it
);

-- How a call in doubt was settled, first. A correction of it is a record of its own.
CREATE TABLE resolution (
  intent_id   uuid PRIMARY KEY,
  outcome     text NOT NULL CHECK (outcome IN ('confirmed', 'not_executed')),
  reason      text NOT NULL,
  client_id   uuid, -- who settled it; null: the resolver, whose verdict has the evidence
  key_id      uuid,
  actor       text,
  resolved_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A person can correct a call that the resolver or a person settled wrongly. The first resolution stays on record, and
-- each correction names the resolution that it supersedes.
CREATE TABLE resolution_correction (
  id          uuid PRIMARY KEY, -- UUIDv7
  intent_id   uuid NOT NULL,
  supersedes  uuid NOT NULL UNIQUE, -- the id of another correction, or of the call for the first resolution
  outcome     text NOT NULL CHECK (outcome IN ('confirmed', 'not_executed')),
  reason      text NOT NULL,
  reserves    boolean NOT NULL, -- whether it reserved a released amount again
  client_id   uuid NOT NULL, -- who corrected it
  key_id      uuid NOT NULL,
  actor       text,
  resolved_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX resolution_correction_intent ON resolution_correction (intent_id);

-- Stops: of everything (both null), one client, or one operation. A stop is active until it is lifted.
CREATE TABLE stop (
  id              uuid PRIMARY KEY, -- UUIDv7, of its own
  stops_client_id uuid,
  stops_operation text,
  reason          text NOT NULL,
  client_id       uuid, -- who stopped; null: the command line
  key_id          uuid,
  actor           text,
  stopped_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK (stops_client_id IS NULL OR stops_operation IS NULL)
);

CREATE TABLE stop_lift (
  stop_id   uuid PRIMARY KEY,
  client_id uuid, -- who lifted it; null: the command line
  key_id    uuid,
  actor     text,
  lifted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Calls whose reservation was released by their outcome, their resolution or their refusal, whichever came first.
CREATE TABLE reservation_release (
  intent_id   uuid PRIMARY KEY,
  released_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Corrections that reserved again, and whose reservation was given back since: by a later correction or a late outcome.
CREATE TABLE correction_release (
  correction_id uuid PRIMARY KEY,
  intent_id     uuid NOT NULL,
  released_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX correction_release_intent ON correction_release (intent_id);

CREATE OR REPLACE FUNCTION is_record(name text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT name IN ('intent', 'intent_item', 'outcome', 'outcome_item', 'refusal', 'decision', 'resolution', 'stop', 'stop_lift',
    'reservation_release')
$$;

DO $$
DECLARE
  record text;
BEGIN
  FOREACH record IN ARRAY ARRAY['decision', 'resolution', 'resolution_correction', 'stop', 'stop_lift', 'reservation_release',
    'correction_release'] LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', record);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', record);
  END LOOP;
END
$$;

-- Work ----------------------------------------------------------------------------------------------------------------

-- The call that owns an idempotency key. Another call takes it over only if the owner provably was not carried out.
CREATE TABLE idempotency_claim (
  client_id    uuid NOT NULL,
  operation    text NOT NULL,
  key          text NOT NULL,
  intent_id    uuid NOT NULL,
  salt         bytea NOT NULL,
  -- SHA-256(salt || content), because a body names people, and hashes of phone numbers can be guessed
  content_hash bytea NOT NULL,
  PRIMARY KEY (client_id, operation, key)
);

-- The contents of the last seconds, to detect a repeated request. Older rows are removed.
CREATE TABLE recent_content (
  client_id uuid NOT NULL,
  operation text NOT NULL,
  content   bytea NOT NULL, -- SHA-256
  intent_id uuid NOT NULL,
  PRIMARY KEY (client_id, operation, content, intent_id)
);
CREATE INDEX recent_content_intent ON recent_content (intent_id);

-- What a client has spent and reserved on a day (UTC). It never exceeds a cap that applied at the time.
CREATE TABLE spending (
  client_id uuid NOT NULL,
  day       date NOT NULL,
  usd       numeric(20,6) NOT NULL CHECK (usd >= 0),
  PRIMARY KEY (client_id, day)
);

-- The requests of a client in its current minute. If a crash loses them, a minute begins again.
CREATE UNLOGGED TABLE request_window (
  client_id  uuid PRIMARY KEY,
  started_at timestamptz NOT NULL,
  requests   integer NOT NULL
);

-- Until its transaction ends, no other transaction can correct the resolution of this call or release its reservation.
CREATE FUNCTION lock_resolution(intent_id uuid) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(7070013, hashtext(intent_id::text))
$$;

-- Releases the reservations of calls and of corrections, once each, on their original day. Rows are locked in the order of
-- admission, so that the two cannot deadlock. Corrections and releases of a settled call take turns. If an outcome commits
-- while a correction reserves again, either it sees that reservation, or the correction sees the outcome.
CREATE FUNCTION release_reservations(intent_ids uuid[]) RETURNS void LANGUAGE sql AS $$
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

-- The numbers of the live processes.
CREATE FUNCTION live_processes() RETURNS SETOF integer LANGUAGE sql STABLE AS $$
  SELECT objid::bigint::integer FROM pg_locks
  WHERE locktype = 'advisory' AND classid = 7070003 AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;

-- Rights --------------------------------------------------------------------------------------------------------------

GRANT USAGE ON SEQUENCE process_number TO payout_proxy;
GRANT SELECT, INSERT ON decision, resolution, resolution_correction, stop, stop_lift, reservation_release, correction_release
  TO payout_proxy;
GRANT SELECT, INSERT, UPDATE ON idempotency_claim, spending, request_window TO payout_proxy;
GRANT SELECT, INSERT, DELETE ON recent_content TO payout_proxy;
