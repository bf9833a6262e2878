-- What makes the history provable: the log that seals it, who has read it, and what was erased or pruned.
--   records   access, access_end, erasure, pruning: rows are only ever added, as those of the migrations before
--   people    access_filters: whom somebody searched for; erasable
--   the log   log_leaf, log_node, checkpoint: one Merkle tree (RFC 6962) over all records, in the order of their commits

-- Roles ---------------------------------------------------------------------------------------------------------------

-- payout_sealer may read records and add to the log. payout_auditor reads views in which people are masked.
DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['payout_sealer', 'payout_auditor'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', role);
    EXCEPTION
      -- Created before, or checked below.
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END LOOP;
END
$$;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'payout_auditor') THEN
    RAISE undefined_object;
  END IF;
  IF NOT pg_has_role(current_user, 'payout_sealer', CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) THEN
    EXECUTE format('GRANT payout_sealer TO %I', current_user);
  END IF;
EXCEPTION
  WHEN undefined_object OR insufficient_privilege THEN
    RAISE EXCEPTION 'this database user may not create roles; as an administrator run: CREATE ROLE payout_sealer NOLOGIN; CREATE ROLE payout_auditor NOLOGIN; GRANT payout_sealer TO %;', current_user;
END
$$;

-- The order of commits ------------------------------------------------------------------------------------------------

-- The transaction that wrote a row. IDs are made before the commit, so a row may commit long after others with later
-- IDs. Once all transactions below a number have ended, no more rows below it can appear (pg_snapshot_xmin). A reader
-- that goes by this number therefore misses nothing. The number has no other meaning, and no seal covers it.
DO $$
DECLARE
  record text;
BEGIN
  FOREACH record IN ARRAY ARRAY['intent', 'outcome', 'refusal', 'decision', 'resolution', 'resolution_correction', 'stop',
    'stop_lift', 'reservation_release', 'correction_release', 'answer_shape'] LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN tx xid8 NOT NULL DEFAULT pg_current_xact_id()', record);
  END LOOP;
END
$$;
CREATE INDEX intent_tx ON intent (tx, id);
CREATE INDEX outcome_tx ON outcome (tx, intent_id);
CREATE INDEX refusal_tx ON refusal (tx, id);
CREATE INDEX decision_tx ON decision (tx, intent_id);
CREATE INDEX resolution_tx ON resolution (tx, intent_id);
CREATE INDEX resolution_correction_tx ON resolution_correction (tx, id);
CREATE INDEX resolution_correction_tx_intent ON resolution_correction (tx, intent_id); -- for the search index
CREATE INDEX stop_tx ON stop (tx, id);
CREATE INDEX stop_lift_tx ON stop_lift (tx, stop_id);
CREATE INDEX reservation_release_tx ON reservation_release (tx, intent_id);
CREATE INDEX correction_release_tx ON correction_release (tx, correction_id);
CREATE INDEX answer_shape_tx ON answer_shape (tx, id);

-- Records -------------------------------------------------------------------------------------------------------------

-- Who has read the history. Written before the response leaves.
CREATE TABLE access (
  id                 uuid PRIMARY KEY, -- the request that read; for the command line, a UUIDv7 of its own
  client_id          uuid, -- null: the command line
  key_id             uuid,
  actor              text,
  route              text NOT NULL, -- 'GET /v1/audit/calls', or the command: 'audit erase'
  call_id            uuid, -- the one call that was requested
  call_ids           uuid[] NOT NULL DEFAULT '{}', -- the calls on a page
  filters            jsonb NOT NULL, -- as requested; contacts are masked
  filters_commitment bytea, -- SHA-256(salt || filters as asked, canonical JSON); null where nothing is masked
  revealed           boolean NOT NULL, -- whether people were unmasked
  rows               integer, -- null: not known at the beginning, see access_end
  request_id         text,
  client_address     text,
  read_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx                 xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX access_tx ON access (tx, id);
CREATE INDEX access_client ON access (client_id, id);
CREATE INDEX access_key ON access (key_id, id);
CREATE INDEX access_actor ON access (actor, id) WHERE actor IS NOT NULL;
CREATE INDEX access_call ON access (call_id, id) WHERE call_id IS NOT NULL;
CREATE INDEX access_calls ON access USING gin (call_ids);

-- How a reading of unknown length ended. Without a row, it was interrupted.
CREATE TABLE access_end (
  access_id       uuid PRIMARY KEY,
  complete        boolean NOT NULL,
  rows            bigint NOT NULL,
  sha256          bytea, -- the bytes that were sent, up to their manifest
  checkpoint_size bigint, -- the checkpoint that the manifest names
  ended_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  tx              xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX access_end_tx ON access_end (tx, access_id);

-- Rows that were removed from the people's tables for a person. Signed, so that a person who only has the database
-- cannot excuse a removal with it.
CREATE TABLE erasure (
  id        uuid PRIMARY KEY, -- UUIDv7, of its own
  kind      text NOT NULL CHECK (kind IN ('email', 'phone', 'handle')), -- the form of the recipient, who is not stored
  reason    text NOT NULL,
  actor     text, -- who ran the command, as stated
  places    text[] NOT NULL, -- 'item_recipient/<call id>/<position>', 'intent_body/<call id>', 'outcome_body/<call id>', 'access_filters/<access id>'
  erased_at timestamptz NOT NULL,
  signature bytea NOT NULL, -- Ed25519, by the log's key, of the row as canonical JSON without tx and signature
  tx        xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX erasure_tx ON erasure (tx, id);

-- Rows that were removed because of their age: whole months of bodies and recipients, or of everything.
CREATE TABLE pruning (
  id         uuid PRIMARY KEY, -- UUIDv7, of its own
  what       text NOT NULL CHECK (what IN ('people', 'calls')),
  month      text NOT NULL CHECK (month ~ '^\d{4}-\d{2}$'),
  reason     text NOT NULL,
  actor      text,
  kept       uuid[] NOT NULL, -- calls of that month that stay, because they are in doubt or waiting
  rows       bigint NOT NULL, -- how many calls were removed, or lost their bodies
  leaves     bigint NOT NULL, -- how many removed records have a leaf; removing people leaves records in place
  checkpoint text NOT NULL, -- the signed note that covers them, also stored outside
  pruned_at  timestamptz NOT NULL,
  signature  bytea NOT NULL, -- as above
  tx         xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX pruning_tx ON pruning (tx, id);

-- People --------------------------------------------------------------------------------------------------------------

CREATE TABLE access_filters (
  access_id uuid PRIMARY KEY,
  salt      bytea NOT NULL,
  filters   bytea NOT NULL -- canonical JSON (RFC 8785)
);

-- The log -------------------------------------------------------------------------------------------------------------

-- The leaves, in the order in which they were sealed.
CREATE TABLE log_leaf (
  index     bigint PRIMARY KEY CHECK (index >= 0),
  kind      text NOT NULL, -- the record's table
  record_id uuid NOT NULL, -- its primary key
  hash      bytea NOT NULL CHECK (octet_length(hash) = 32), -- SHA-256(0x00 || record as canonical JSON)
  UNIQUE (record_id, kind)
);

-- Roots of the full subtrees over 256, 65,536, … leaves, so that a proof reads hundreds of hashes and not millions.
CREATE TABLE log_node (
  level smallint NOT NULL CHECK (level > 0 AND level % 8 = 0), -- over 2^level leaves
  index bigint NOT NULL CHECK (index >= 0),
  hash  bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (level, index)
);

-- The signed sizes and roots of the tree.
CREATE TABLE checkpoint (
  size           bigint PRIMARY KEY CHECK (size > 0),
  root           bytea NOT NULL CHECK (octet_length(root) = 32),
  note           text NOT NULL, -- C2SP signed note, which also names the two times below
  positions      jsonb NOT NULL, -- by table, the position (tx, id) up to which it was read
  sealed_at      timestamptz NOT NULL,
  complete_until timestamptz -- everything written before this time is sealed; null: not known
);

DO $$
DECLARE
  record text;
BEGIN
  FOREACH record IN ARRAY ARRAY['access', 'access_end', 'erasure', 'pruning', 'log_leaf', 'log_node', 'checkpoint'] LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change()', record);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', record);
  END LOOP;
END
$$;

-- Work ----------------------------------------------------------------------------------------------------------------

-- Erased with the body that it belongs to. The remaining row says that the key is taken, but not for which content.
ALTER TABLE idempotency_claim ALTER COLUMN salt DROP NOT NULL, ALTER COLUMN content_hash DROP NOT NULL;

-- Rights --------------------------------------------------------------------------------------------------------------

GRANT SELECT, INSERT ON access, access_end, access_filters TO payout_proxy;
GRANT SELECT ON erasure, pruning, log_leaf, log_node, checkpoint TO payout_proxy;

GRANT USAGE ON SCHEMA public TO payout_sealer;
GRANT SELECT ON intent, intent_item, outcome, outcome_item, refusal, decision, resolution, resolution_correction, stop, stop_lift,
  reservation_release, correction_release, answer_shape, access, access_end, erasure, pruning TO payout_sealer;
GRANT SELECT, INSERT ON log_leaf, log_node, checkpoint TO payout_sealer;
