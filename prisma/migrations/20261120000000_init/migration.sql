-- The first lay-out. Three kinds of tables:
--   clients and keys   ordinary rows that change
--   records            intent, intent_item, outcome, outcome_item, refusal: rows are only ever added
--   people             intent_body, item_recipient, outcome_body: what names a person, erasable; the records hold salted
--                      SHA-256 commitments to it, so erasing someone changes no record
-- Records and people are partitioned by month on the call's id (UUIDv7 begins with its time): dropping a month is retention.
-- There are no foreign keys among them: one writer adds a call's rows in one statement, and months are dropped on their own.

-- The role of the proxy. It may insert and read records, and may not change them.
DO $$
BEGIN
  CREATE ROLE payout_proxy NOLOGIN;
EXCEPTION
  WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL; -- Created before, or checked below.
END
$$;

DO $$
BEGIN
  -- Before Postgres 16, there was no SET option.
  IF NOT pg_has_role(current_user, 'payout_proxy', CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
    EXECUTE format('GRANT payout_proxy TO %I', current_user);
  END IF;
EXCEPTION
  WHEN undefined_object OR insufficient_privilege THEN
    RAISE EXCEPTION 'this database user may not create roles; as an administrator run: CREATE ROLE payout_proxy NOLOGIN; GRANT payout_proxy TO %;', current_user;
END
$$;

-- Clients and their keys ----------------------------------------------------------------------------------------------

CREATE TABLE client (
  id         uuid PRIMARY KEY,
  name       text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,39}$'),
  scopes     text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_key (
  id           uuid PRIMARY KEY,
  client_id    uuid NOT NULL REFERENCES client,
  sha256       bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
  hint         text NOT NULL, -- its last four characters, to tell keys apart
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_key_client ON api_key (client_id);

-- Records -------------------------------------------------------------------------------------------------------------

-- A request that is about to be sent. It is committed before the first byte is sent.
CREATE TABLE intent (
  id              uuid PRIMARY KEY, -- the call's id
  client_id       uuid NOT NULL,
  key_id          uuid NOT NULL,
  operation       text NOT NULL, -- the operation's name in the interface: 'POST /payouts/airtime'
  request_id      text NOT NULL,
  traceparent     text,
  client_address  text NOT NULL,
  query           text, -- the query string as sent
  item_count      integer NOT NULL,
  total_usd       numeric(20,6), -- null if no item names an amount
  body_commitment bytea, -- SHA-256(salt || body as sent)
  received_at     timestamptz NOT NULL, -- the proxy's clock
  recorded_at     timestamptz NOT NULL DEFAULT clock_timestamp() -- the database's clock
) PARTITION BY RANGE (id);
CREATE INDEX intent_client ON intent (client_id, id);
CREATE INDEX intent_operation ON intent (operation, id);

-- One row per payout of a call.
CREATE TABLE intent_item (
  intent_id         uuid NOT NULL,
  position          integer NOT NULL CHECK (position >= 0), -- in the body's list, from 0
  recipient_field   text, -- the name that identifies the recipient: email, phone, handle, receiver
  handle_ignored    boolean NOT NULL, -- whether email and handle were given, so that the email is used
  amount_usd        numeric(18,6),
  country           text,
  network_code      text,
  reference         text,
  receiver          text, -- a sub-account's user id
  wallet            text,
  upstream_ref           text, -- of the transaction to delete
  email_commitment  bytea, -- SHA-256(salt || value), as the two below
  phone_commitment  bytea,
  handle_commitment bytea,
  PRIMARY KEY (intent_id, position)
) PARTITION BY RANGE (intent_id);
CREATE INDEX intent_item_reference ON intent_item (reference, intent_id) WHERE reference <> '';
CREATE INDEX intent_item_receiver ON intent_item (receiver, intent_id) WHERE receiver IS NOT NULL;
CREATE INDEX intent_item_upstream_ref ON intent_item (upstream_ref, intent_id) WHERE upstream_ref IS NOT NULL;

-- The outcome of an intent. An intent without one, older than the time-out, is in doubt.
CREATE TABLE outcome (
  intent_id       uuid PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('succeeded', 'rejected', 'not_sent', 'unknown')),
  failure         text, -- a short code if there was no usable answer
  upstream_status smallint,
  content_type    text,
  retry_after     integer, -- seconds, as the upstream requested
  body_commitment bytea,
  sent_at         timestamptz NOT NULL,
  answered_at     timestamptz NOT NULL,
  upstream_ms     numeric(12,3) NOT NULL, -- by a monotonic clock
  recorded_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (intent_id);
CREATE INDEX outcome_kind ON outcome (kind, intent_id);

-- One row per transaction in the upstream's answer.
CREATE TABLE outcome_item (
  intent_id   uuid NOT NULL,
  ordinal     integer NOT NULL CHECK (ordinal >= 0), -- in the answer, from 0
  position    integer, -- the position of its item, if that is certain
  upstream_ref     text,
  upstream_id text,
  batch_ref    text,
  status      text, -- the upstream's status
  amount_usd  numeric, -- the upstream's amount, with all decimals
  PRIMARY KEY (intent_id, ordinal)
) PARTITION BY RANGE (intent_id);
CREATE INDEX outcome_item_upstream_ref ON outcome_item (upstream_ref, intent_id) WHERE upstream_ref IS NOT NULL;
CREATE INDEX outcome_item_upstream_id ON outcome_item (upstream_id, intent_id) WHERE upstream_id IS NOT NULL;
CREATE INDEX outcome_item_batch_ref ON outcome_item (batch_ref, intent_id) WHERE batch_ref IS NOT NULL;

-- A rejected request of a known caller.
CREATE TABLE refusal (
  id             uuid PRIMARY KEY, -- the call's id
  client_id      uuid NOT NULL,
  key_id         uuid NOT NULL,
  operation      text NOT NULL,
  request_id     text NOT NULL,
  traceparent    text,
  client_address text NOT NULL,
  status         smallint NOT NULL,
  code           text NOT NULL,
  detail         text NOT NULL,
  faults         jsonb NOT NULL, -- the first hundred: [{pointer, detail}]
  fault_count    integer NOT NULL,
  received_at    timestamptz NOT NULL,
  recorded_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (id);
CREATE INDEX refusal_client ON refusal (client_id, id);
CREATE INDEX refusal_operation ON refusal (operation, id);

-- People --------------------------------------------------------------------------------------------------------------

CREATE TABLE intent_body (
  intent_id uuid PRIMARY KEY,
  salt      bytea NOT NULL,
  body      bytea NOT NULL -- the bytes as sent
) PARTITION BY RANGE (intent_id);

CREATE TABLE item_recipient (
  intent_id uuid NOT NULL,
  position  integer NOT NULL,
  salt      bytea NOT NULL,
  email     text,
  phone     text,
  handle    text,
  PRIMARY KEY (intent_id, position)
) PARTITION BY RANGE (intent_id);
CREATE INDEX item_recipient_email ON item_recipient (lower(email), intent_id) WHERE email IS NOT NULL;
CREATE INDEX item_recipient_phone ON item_recipient (phone, intent_id) WHERE phone IS NOT NULL;
CREATE INDEX item_recipient_handle ON item_recipient (lower(handle), intent_id) WHERE handle IS NOT NULL;

CREATE TABLE outcome_body (
  intent_id uuid PRIMARY KEY,
  salt      bytea NOT NULL,
  body      bytea NOT NULL -- the bytes as received
) PARTITION BY RANGE (intent_id);

-- Partitions ----------------------------------------------------------------------------------------------------------

-- Returns the smallest UUID of an instant: 48 bits of milliseconds (RFC 9562, section 5.7), then zeros.
CREATE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'records are only added to: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;

CREATE FUNCTION is_record(name text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT name IN ('intent', 'intent_item', 'outcome', 'outcome_item', 'refusal')
$$;

-- Creates one partition of one table. Row triggers come with it from its parent, but a TRUNCATE trigger does not. It
-- waits only briefly for its lock on the default partition, because writers of records would wait behind it.
CREATE FUNCTION make_partition(parent text, name text, bounds text) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, public SET lock_timeout = '2s' AS $$
BEGIN
  EXECUTE format('CREATE TABLE public.%I PARTITION OF public.%I %s', name, parent, bounds);
  IF public.is_record(parent) THEN
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.%I EXECUTE FUNCTION public.refuse_change()', name);
  END IF;
END
$$;

-- Creates the partitions of this month and of future months. The proxy calls it at each start and every day.
CREATE FUNCTION make_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public SET timezone = 'UTC' AS $$
DECLARE
  parent text;
  month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7070001); -- Several instances may start together.
  FOREACH parent IN ARRAY ARRAY['intent', 'intent_item', 'outcome', 'outcome_item', 'refusal', 'intent_body', 'item_recipient', 'outcome_body'] LOOP
    FOR ahead IN 0..months_ahead LOOP
      month := date_trunc('month', now(), 'UTC') + make_interval(months => ahead);
      name := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
      CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
      BEGIN
        PERFORM public.make_partition(parent, name, format('FOR VALUES FROM (%L) TO (%L)',
          public.uuid_floor(month), public.uuid_floor(month + interval '1 month')));
      EXCEPTION
        WHEN check_violation THEN
          RAISE WARNING 'rows of % stand in the default partition and stay there', name; -- They all exist.
        WHEN lock_not_available THEN
          RAISE WARNING 'a long query keeps % from being made; tomorrow is early enough', name;
      END;
    END LOOP;
  END LOOP;
END
$$;

DO $$
DECLARE
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['intent', 'intent_item', 'outcome', 'outcome_item', 'refusal', 'intent_body', 'item_recipient', 'outcome_body'] LOOP
    IF is_record(parent) THEN
      EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', parent);
      EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', parent);
    END IF;
    -- The default partition: a row whose month has no partition is stored here and never lost.
    PERFORM make_partition(parent, parent || '_default', 'DEFAULT');
  END LOOP;
END
$$;

SELECT make_partitions(1);

-- Rights --------------------------------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION make_partitions(integer), make_partition(text, text, text) FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO payout_proxy;
GRANT EXECUTE ON FUNCTION make_partitions(integer) TO payout_proxy;
GRANT SELECT, INSERT, UPDATE ON client, api_key TO payout_proxy;
GRANT SELECT, INSERT ON intent, intent_item, outcome, outcome_item, refusal TO payout_proxy;
GRANT SELECT, INSERT ON intent_body, item_recipient, outcome_body TO payout_proxy;
GRANT SELECT ON _prisma_migrations TO payout_proxy;
