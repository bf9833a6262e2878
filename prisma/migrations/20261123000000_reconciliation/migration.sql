-- Reconciliation: what the upstream says of its transactions, how that differs from what is on record here, and what became
-- of each difference.
--   records   source_read, source_read_end, verdict, upstream_event, reconciliation_run, reconciliation_run_end, finding,
--             finding_sight, finding_step: rows are only ever added, and sealed
--   sources   upstream_transaction, upstream_wallet, upstream_wallet_entry, statement_fault: what was read, as evidence;
--             upstream_transaction names people and is erasable
--   work      reconciliation_match, reconciliation_progress

-- Records -------------------------------------------------------------------------------------------------------------

-- One reading of a source: a request to the upstream, committed before it is sent, or an imported statement.
CREATE TABLE source_read (
  id        uuid PRIMARY KEY, -- UUIDv7
  source    text NOT NULL CHECK (source IN ('transactions', 'batch', 'transaction', 'wallets', 'statement')),
  subject   text, -- the requested batch_ref or upstream_id, or the statement's file name
  from_at   timestamptz, -- only transactions from here …
  to_at     timestamptz, -- … up to here are kept; null: all
  mapping   json, -- for a statement: its mapping of columns to fields
  caused_by uuid, -- the run, the call in doubt or the event that caused it
  client_id uuid, -- who imported the statement; null: the proxy by itself
  key_id    uuid,
  actor     text,
  read_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx        xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX source_read_tx ON source_read (tx, id);
CREATE INDEX source_read_source ON source_read (source, id);
CREATE INDEX source_read_cause ON source_read (caused_by, id) WHERE caused_by IS NOT NULL;

-- How a reading ended. Without a row, it was interrupted, and its rows count for nothing.
CREATE TABLE source_read_end (
  read_id  uuid PRIMARY KEY,
  complete boolean NOT NULL, -- whether it is complete and the upstream reported success
  failure  text, -- a short code if it is not complete
  http_status smallint,
  bytes    bigint NOT NULL,
  sha256   bytea, -- SHA-256 of the bytes as received
  rows     bigint NOT NULL, -- the number of listed transactions, or lines
  kept     bigint NOT NULL, -- how many of them are in upstream_transaction
  faults   integer NOT NULL, -- how many of them could not be read
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx       xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX source_read_end_tx ON source_read_end (tx, read_id);
CREATE INDEX source_read_end_sha256 ON source_read_end (sha256);

-- The resolver's conclusion about a call in doubt. confirmed and not_executed have a resolution. ambiguous waits for a
-- person, or for a later verdict.
CREATE TABLE verdict (
  id         uuid PRIMARY KEY, -- UUIDv7
  intent_id  uuid NOT NULL,
  verdict    text NOT NULL CHECK (verdict IN ('confirmed', 'not_executed', 'ambiguous')),
  reason     text NOT NULL,
  evidence   json NOT NULL, -- the readings and transactions that support it; names nobody
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX verdict_tx ON verdict (tx, id);
CREATE INDEX verdict_intent ON verdict (intent_id, id);

-- The upstream's events: hints that are never believed before they are read back.
CREATE TABLE upstream_event (
  id          uuid PRIMARY KEY, -- UUIDv7
  event_id    text NOT NULL UNIQUE, -- as signed; a repeated event is not recorded again
  event_type  text,
  batch_ref    text,
  upstream_id text,
  upstream_ref     text,
  status      text,
  amount_usd  numeric,
  signed_at   timestamptz NOT NULL,
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX upstream_event_tx ON upstream_event (tx, id);

-- One comparison of a period. Without an end, it was interrupted, or is in progress and its lock is held.
CREATE TABLE reconciliation_run (
  id         uuid PRIMARY KEY, -- UUIDv7
  from_at    timestamptz NOT NULL,
  to_at      timestamptz NOT NULL CHECK (to_at > from_at),
  as_of      timestamptz NOT NULL, -- our records count as they stood then
  historical boolean NOT NULL, -- whether it is historical: it changes the state of no finding
  read_id    uuid, -- the statement or earlier reading that it compares with; null: it reads anew
  settings   json NOT NULL, -- tolerances, so that a repeated run gives the same result
  due_at     timestamptz UNIQUE, -- the scheduled time that it is for; null: somebody started it
  client_id  uuid, -- who started it; null: the schedule
  key_id     uuid,
  actor      text,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX reconciliation_run_tx ON reconciliation_run (tx, id);

CREATE TABLE reconciliation_run_end (
  run_id   uuid PRIMARY KEY,
  result   text NOT NULL CHECK (result IN ('clean', 'findings', 'failed')),
  failure  text, -- why there is no result, as a sentence
  read_id  uuid, -- the source that it compared with
  totals   json, -- counts and sums, the equation, by day and by category; null where it failed
  ended_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx       xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX reconciliation_run_end_tx ON reconciliation_run_end (tx, run_id);

-- A difference as it was seen first. Its category and subject are the same in every run.
CREATE TABLE finding (
  id          uuid PRIMARY KEY, -- UUIDv7
  category    text NOT NULL CHECK (category IN ('missing_upstream', 'missing_local', 'amount_over', 'amount_under', 'recipient',
    'status', 'duplicate_upstream', 'late', 'fee', 'balance_gap', 'unrecognised_status')),
  subject     text NOT NULL, -- identifies what it is about; names nobody
  call_id     uuid, -- ours, where there is one …
  position    integer,
  upstream_ref     text, -- … and theirs
  upstream_id text,
  batch_ref    text,
  wallet_id   text,
  occurred_at timestamptz NOT NULL, -- when the payment was made, which assigns it to a period
  run_id      uuid NOT NULL, -- the run that saw it first
  found_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx          xid8 NOT NULL DEFAULT pg_current_xact_id(),
  UNIQUE (category, subject)
);
CREATE INDEX finding_tx ON finding (tx, id);
CREATE INDEX finding_occurred ON finding (occurred_at);
CREATE INDEX finding_call ON finding (call_id) WHERE call_id IS NOT NULL;

-- A finding as one run saw it.
CREATE TABLE finding_sight (
  id         uuid PRIMARY KEY, -- UUIDv7
  finding_id uuid NOT NULL,
  run_id     uuid NOT NULL,
  impact_usd numeric NOT NULL, -- its impact: what it adds to the upstream's total minus ours
  fields     json NOT NULL, -- [{field, ours, theirs}]; people are masked
  evidence   json NOT NULL, -- the supporting rows
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
  UNIQUE (finding_id, run_id)
);
CREATE INDEX finding_sight_tx ON finding_sight (tx, id);
CREATE INDEX finding_sight_run ON finding_sight (run_id, finding_id);

-- A decision about a finding. A finding without any is open.
CREATE TABLE finding_step (
  id         uuid PRIMARY KEY, -- UUIDv7
  finding_id uuid NOT NULL,
  state      text NOT NULL CHECK (state IN ('explained', 'resolved', 'accepted', 'reopened')),
  reason     text NOT NULL,
  impact_usd numeric NOT NULL, -- its impact at the time of the decision
  run_id     uuid, -- the run that decided; null: a person did
  client_id  uuid,
  key_id     uuid,
  actor      text,
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX finding_step_tx ON finding_step (tx, id);
CREATE INDEX finding_step_finding ON finding_step (finding_id, id);

DO $$
DECLARE
  record text;
BEGIN
  FOREACH record IN ARRAY ARRAY['source_read', 'source_read_end', 'verdict', 'upstream_event', 'reconciliation_run',
    'reconciliation_run_end', 'finding', 'finding_sight', 'finding_step'] LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', record);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', record);
  END LOOP;
END
$$;

-- Sources -------------------------------------------------------------------------------------------------------------

-- A transaction as a source showed it (docs/reference/upstream.md, "Transaction record"). Only compared fields are
-- stored.
CREATE TABLE upstream_transaction (
  read_id      uuid NOT NULL,
  ordinal      bigint NOT NULL, -- the position in the answer, from 0; for a statement, its line
  upstream_ref      text,
  upstream_id  text,
  batch_ref     text,
  issued_at    timestamptz,
  type         text,
  status       text, -- the upstream's status
  amount_usd   numeric(20,6), -- null: no readable one
  fee_usd      numeric(20,6),
  email        text,
  phone        text,
  handle       text,
  receiver     text,
  country      text,
  network_code text,
  reference    text,
  PRIMARY KEY (read_id, ordinal)
) PARTITION BY RANGE (read_id);

CREATE TABLE upstream_wallet (
  read_id   uuid NOT NULL,
  wallet_id text NOT NULL,
  type      text,
  balance   numeric,
  PRIMARY KEY (read_id, wallet_id)
);

-- The newest entries of a wallet, newest first.
CREATE TABLE upstream_wallet_entry (
  read_id        uuid NOT NULL,
  wallet_id      text NOT NULL,
  ordinal        integer NOT NULL,
  amount         numeric,
  balance_before numeric,
  new_balance    numeric,
  description    text,
  entered_at     timestamptz,
  PRIMARY KEY (read_id, wallet_id, ordinal)
);

-- A line of a statement that could not be used.
CREATE TABLE statement_fault (
  read_id uuid NOT NULL,
  line    bigint NOT NULL,
  reason  text NOT NULL, -- names the column, never its value
  PRIMARY KEY (read_id, line)
);

-- Work ----------------------------------------------------------------------------------------------------------------

-- The matches: a payment of ours and its transaction, with the rule and the certainty.
CREATE TABLE reconciliation_match (
  run_id    uuid NOT NULL,
  call_id   uuid NOT NULL,
  position  integer NOT NULL,
  read_id   uuid, -- the reading of the transaction; null: the run's own source
  ordinal   bigint NOT NULL, -- its position there
  rule      text NOT NULL CHECK (rule IN ('upstream_ref', 'upstream_id', 'batch_ref', 'reference', 'fingerprint')),
  certainty text NOT NULL CHECK (certainty IN ('certain', 'probable', 'possible')),
  PRIMARY KEY (run_id, call_id, position)
) PARTITION BY RANGE (run_id);

-- The progress of a run. If a crash loses it, the run shows it again.
CREATE UNLOGGED TABLE reconciliation_progress (
  run_id     uuid PRIMARY KEY,
  step       text NOT NULL,
  done       bigint NOT NULL,
  of         bigint, -- null: not known
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Partitions ----------------------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION make_partitions(months_ahead integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public SET timezone = 'UTC' AS $$
DECLARE
  parent text;
  month timestamptz;
  name text;
BEGIN
  PERFORM pg_advisory_xact_lock(7070001); -- Several instances may start together.
  FOREACH parent IN ARRAY ARRAY['intent', 'intent_item', 'outcome', 'outcome_item', 'refusal', 'intent_body', 'item_recipient', 'outcome_body',
    'upstream_transaction', 'reconciliation_match'] LOOP
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

SELECT make_partition(parent, parent || '_default', 'DEFAULT') FROM unnest(ARRAY['upstream_transaction', 'reconciliation_match']) AS parent;
SELECT make_partitions(1);

-- What auditors see ---------------------------------------------------------------------------------------------------

CREATE VIEW audit.source_reads AS
  SELECT r.id, r.source, audit.mask_contacts(r.subject) AS subject, r.from_at, r.to_at, r.caused_by, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.read_at, e.complete, e.failure, e.http_status, e.bytes, e.sha256, e.rows, e.kept,
    e.faults, e.ended_at
  FROM public.source_read r LEFT JOIN public.source_read_end e ON e.read_id = r.id;

CREATE VIEW audit.upstream_transactions AS
  SELECT read_id, ordinal, audit.mask_contacts(upstream_ref) AS upstream_ref, audit.mask_contacts(upstream_id) AS upstream_id,
    audit.mask_contacts(batch_ref) AS batch_ref, issued_at, audit.mask_prose(type) AS type, audit.mask_prose(status) AS status,
    amount_usd, fee_usd, audit.mask_email(email) AS email, audit.mask_phone(phone) AS phone, audit.mask_handle(handle) AS handle,
    audit.mask_contacts(receiver) AS receiver, audit.mask_contacts(country) AS country,
    audit.mask_contacts(network_code) AS network_code, audit.mask_prose(reference) AS reference
  FROM public.upstream_transaction;

CREATE VIEW audit.verdicts AS
  SELECT id, intent_id AS call_id, verdict, reason, evidence, decided_at FROM public.verdict;

CREATE VIEW audit.upstream_events AS
  SELECT id, event_id, event_type, batch_ref, upstream_id, upstream_ref, status, amount_usd, signed_at, received_at
  FROM public.upstream_event;

CREATE VIEW audit.reconciliation_runs AS
  SELECT r.id, r.from_at, r.to_at, r.as_of, r.historical, r.settings, r.due_at, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.started_at, e.result, e.failure, coalesce(e.read_id, r.read_id) AS read_id,
    e.totals, e.ended_at
  FROM public.reconciliation_run r LEFT JOIN public.reconciliation_run_end e ON e.run_id = r.id;

CREATE VIEW audit.findings AS
  SELECT id, category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, wallet_id, occurred_at, run_id, found_at
  FROM public.finding;

CREATE VIEW audit.finding_sights AS
  SELECT id, finding_id, run_id, impact_usd, fields, evidence, seen_at FROM public.finding_sight;

CREATE VIEW audit.finding_steps AS
  SELECT id, finding_id, state, audit.mask_prose(reason) AS reason, impact_usd, run_id, client_id, key_id,
    audit.mask_contacts(actor) AS actor, decided_at
  FROM public.finding_step;

-- Rights --------------------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT ON source_read, source_read_end, verdict, upstream_event, reconciliation_run, reconciliation_run_end,
  finding, finding_sight, finding_step TO payout_proxy;
GRANT SELECT, INSERT ON upstream_transaction, upstream_wallet, upstream_wallet_entry, statement_fault, reconciliation_match TO payout_proxy;
GRANT SELECT, INSERT, UPDATE ON reconciliation_progress TO payout_proxy;
GRANT SELECT ON call_state TO payout_proxy;
GRANT SELECT ON source_read, source_read_end, verdict, upstream_event, reconciliation_run, reconciliation_run_end,
  finding, finding_sight, finding_step TO payout_sealer;
GRANT SELECT ON audit.source_reads, audit.upstream_transactions, audit.verdicts, audit.upstream_events,
  audit.reconciliation_runs, audit.findings, audit.finding_sights, audit.finding_steps TO payout_auditor;

-- A run sorts and joins in temporary tables of its session.
DO $$
BEGIN
  EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO payout_proxy', current_database());
END
$$;
