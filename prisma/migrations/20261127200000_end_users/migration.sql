-- End users: the people on whose behalf apps call, their limits, and credentials that are made for a phone or a page.

INSERT INTO migration_compatibility VALUES ('20261127200000_end_users', '20261124000000_init');

ALTER TABLE client
  -- A server has secret keys. A public client, such as a mobile app, has none: only ephemeral keys and access tokens.
  ADD COLUMN kind text NOT NULL DEFAULT 'server' CHECK (kind IN ('server', 'public')),
  -- The limits of each person; null: none. A person may have limits of their own instead (person)
  ADD COLUMN person_daily_cap_usd numeric(20,6) CHECK (person_daily_cap_usd >= 0),
  ADD COLUMN person_monthly_cap_usd numeric(20,6) CHECK (person_monthly_cap_usd >= 0),
  ADD COLUMN person_max_item_usd numeric(20,6) CHECK (person_max_item_usd > 0),
  ADD COLUMN person_requests_per_minute integer CHECK (person_requests_per_minute > 0),
  -- Whose access tokens the client takes (RFC 9068); null: nobody's
  ADD COLUMN token_issuer text,
  ADD COLUMN token_audience text,
  ADD COLUMN token_jwks_uri text,
  ADD COLUMN token_algorithms text[] NOT NULL DEFAULT '{}',
  ADD COLUMN token_client_id text, -- the client at the provider
  ADD COLUMN token_dpop boolean NOT NULL DEFAULT FALSE, -- whether tokens must be bound to a key of the app (RFC 9449)
  ADD COLUMN token_max_age integer NOT NULL DEFAULT 86400 CHECK (token_max_age > 0), -- seconds from their iat
  ADD CONSTRAINT client_token_source CHECK (
    (token_issuer IS NULL) = (token_audience IS NULL) AND (token_issuer IS NULL) = (token_jwks_uri IS NULL)
    AND (token_issuer IS NULL) = (token_client_id IS NULL) AND (token_issuer IS NULL) = (cardinality(token_algorithms) = 0)),
  ADD CONSTRAINT client_token_client UNIQUE (token_issuer, token_client_id);

-- A secret key has a secret that its holder knows. A provider's key has none: it stands for the tokens of the client's provider, so
-- records name it, and revoking it ends them.
ALTER TABLE api_key ADD COLUMN kind text NOT NULL DEFAULT 'secret' CHECK (kind IN ('secret', 'provider'));

-- A client has one such key at a time.
CREATE UNIQUE INDEX api_key_provider ON api_key (client_id) WHERE kind = 'provider' AND revoked_at IS NULL;

-- A client keeps its kind, as it keeps its account. A server that became public would keep its secret keys.
CREATE FUNCTION forbid_kind_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a client keeps its kind' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER client_keeps_kind BEFORE UPDATE ON client
FOR EACH ROW WHEN (NEW.kind <> OLD.kind) EXECUTE FUNCTION forbid_kind_change();

-- A public client is in the hands of everybody, so a secret key of it would be no secret.
CREATE FUNCTION forbid_public_secret_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM client WHERE id = NEW.client_id AND kind = 'public') THEN
    RAISE EXCEPTION 'a public client has no secret keys' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER public_client_has_no_secret_key BEFORE INSERT OR UPDATE OF client_id, kind ON api_key
FOR EACH ROW WHEN (NEW.kind = 'secret') EXECUTE FUNCTION forbid_public_secret_key();

-- The people behind the calls of a client. This is work, not a record: records hold the ID and a commitment, SHA-256(salt || name).
CREATE TABLE person (
  id                  uuid PRIMARY KEY, -- UUIDv7
  client_id           uuid NOT NULL REFERENCES client (id),
  sha256              bytea NOT NULL UNIQUE, -- of the client, the issuer and the name (src/access/people/persons.service.ts)
  issuer              text, -- of the tokens; null: the client names the person
  name                text, -- the subject, or the name that the client uses; null: erased
  salt                bytea, -- a new one each time a name is set
  first_seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Limits instead of the client's; null: the client's
  daily_cap_usd       numeric(20,6) CHECK (daily_cap_usd >= 0),
  monthly_cap_usd     numeric(20,6) CHECK (monthly_cap_usd >= 0),
  max_item_usd        numeric(20,6) CHECK (max_item_usd > 0),
  requests_per_minute integer CHECK (requests_per_minute > 0),
  revoked_at          timestamptz, -- tokens and ephemeral keys from before are refused
  forget_after        timestamptz, -- when the hash of an erased person goes; null: not erased, or gone
  CHECK ((name IS NULL) = (salt IS NULL)),
  CHECK (name IS NULL OR forget_after IS NULL)
);
CREATE INDEX person_client ON person (client_id, id);
CREATE INDEX person_forget_after ON person (forget_after) WHERE forget_after IS NOT NULL;

-- Keys for one person and some minutes, made by the client's server for a phone or a page.
CREATE TABLE ephemeral_key (
  id            uuid PRIMARY KEY, -- UUIDv7
  key_id        uuid NOT NULL REFERENCES api_key (id), -- the key that made it, and without which it is not valid
  person_id     uuid NOT NULL REFERENCES person (id),
  sha256        bytea NOT NULL UNIQUE,
  hint          text NOT NULL,
  operations    text[] NOT NULL,
  countries     text[] NOT NULL, -- empty: those of the client
  recipients    bytea[], -- SHA-256 as in beneficiary; null: any
  max_item_usd  numeric(20,6) NOT NULL CHECK (max_item_usd > 0),
  max_total_usd numeric(20,6) NOT NULL CHECK (max_total_usd > 0),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  CHECK (expires_at > created_at AND expires_at <= created_at + interval '15 minutes')
);
CREATE INDEX ephemeral_key_person ON ephemeral_key (person_id, id);
CREATE INDEX ephemeral_key_parent ON ephemeral_key (key_id, id);
-- Rows stay, and only those of the last minutes are valid.
CREATE INDEX ephemeral_key_valid ON ephemeral_key (key_id, expires_at) WHERE revoked_at IS NULL;

-- Apps make ephemeral keys all day, and lists of administrative acts leave them out.
CREATE INDEX IF NOT EXISTS activity_administrative ON activity (acted_at, id)
  WHERE NOT action IN ('ephemeral_key_issued', 'ephemeral_key_revoked');

-- What a person has spent and reserved on a day (UTC), or what was spent with an ephemeral key. As in spending, it never exceeds a cap
-- that applied at the time. A new day or month has no rows, so no job resets anything.
CREATE TABLE payer_spending (
  payer_id uuid NOT NULL,
  day      date NOT NULL,
  usd      numeric(20,6) NOT NULL CHECK (usd >= 0),
  PRIMARY KEY (payer_id, day)
);

-- The caps of persons and of ephemeral keys.
CREATE VIEW payer_cap AS
  SELECT p.id AS payer_id, 'person' AS kind, coalesce(p.daily_cap_usd, c.person_daily_cap_usd) AS daily_cap_usd,
    coalesce(p.monthly_cap_usd, c.person_monthly_cap_usd) AS monthly_cap_usd, NULL::numeric AS total_cap_usd
  FROM person p JOIN client c ON c.id = p.client_id
  UNION ALL
  SELECT id, 'ephemeral_key', NULL, NULL, max_total_usd FROM ephemeral_key;

-- Tokens that count once and were used, until they are refused for their age: DPoP proofs (RFC 9449) and logout tokens. It is logged,
-- so that a failover does not forget them.
CREATE TABLE used_token (
  sha256       bytea PRIMARY KEY, -- of the ID of the token, and of who made it
  counts_until timestamptz NOT NULL
);
GRANT SELECT, INSERT, DELETE ON used_token TO payout_proxy;

-- The person of a request, and the ephemeral key that it came with. Records of calls have them in their documents, too.
ALTER TABLE intent ADD COLUMN person_id uuid, ADD COLUMN ephemeral_key_id uuid;
ALTER TABLE refusal
  ADD COLUMN person_id uuid, -- records of programs before this migration have the name itself (actor)
  ADD COLUMN actor_commitment bytea CHECK (octet_length(actor_commitment) = 32),
  ADD COLUMN actor_source text CHECK (actor_source IN ('token', 'ephemeral', 'key', 'claimed')),
  ADD COLUMN ephemeral_key_id uuid;

-- provider_changed: whose access tokens a client takes. person_added, person_limits_changed: an exception for a person, named by ID.
ALTER TABLE activity DROP CONSTRAINT activity_action_check, ADD CONSTRAINT activity_action_check CHECK (action IN (
  'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
  'wallet_recovered', 'key_paid_twice', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
  'emergency_change', 'dual_control_changed', 'beneficiary_added', 'beneficiary_removed', 'configuration_changed',
  'provider_changed', 'person_added', 'person_limits_changed', 'person_revoked', 'ephemeral_key_issued',
  'ephemeral_key_revoked'));

-- An erasure removes a recipient by the form of the contact, or the name of a person. It lists 'person/<id>'.
ALTER TABLE erasure DROP CONSTRAINT erasure_kind_check,
  ADD CONSTRAINT erasure_kind_check CHECK (kind IN ('email', 'phone', 'handle', 'person'));

GRANT SELECT, INSERT, UPDATE ON person, ephemeral_key, payer_spending TO payout_proxy;
GRANT SELECT ON payer_cap TO payout_proxy;

-- Returns what a payer has spent on a day, in its month and, if in_all, altogether. An ephemeral key lives for minutes, but what it has
-- requested may be approved months later. It returns one row, as a table, so that the planner inlines it.
CREATE FUNCTION payer_spent(payer uuid, on_day date, in_all boolean) RETURNS TABLE (today_usd numeric, month_usd numeric, total_usd numeric)
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0),
    coalesce(sum(s.usd) FILTER (WHERE s.day >= date_trunc('month', on_day::timestamp)::date), 0), coalesce(sum(s.usd), 0)
  FROM payer_spending s
  WHERE s.payer_id = payer AND s.day >= CASE WHEN in_all THEN '-infinity' ELSE date_trunc('month', on_day::timestamp)::date END
$$;

-- Returns whether payers stay within their caps (overPayerCap of src/policy/limits/caps.ts). One that is not there does not. Call it after nothing_against has locked their
-- clients. Like that function, it is VOLATILE, so that it sees everything that was committed until then. OFFSET 0 keeps the planner
-- from reading every person to join the view. The spending of payers without caps is not read.
--   payers, usd   each payer once, and what its calls would add
CREATE FUNCTION payers_within_caps(payers uuid[], usd numeric[], on_day date) RETURNS boolean LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM unnest(payers, usd) AS a(payer_id, usd)
    LEFT JOIN LATERAL (SELECT * FROM payer_cap WHERE payer_id = a.payer_id OFFSET 0) AS c ON TRUE
    WHERE c.payer_id IS NULL OR coalesce(c.daily_cap_usd, c.monthly_cap_usd, c.total_cap_usd) IS NOT NULL AND EXISTS (
      SELECT FROM payer_spent(a.payer_id, on_day, c.total_cap_usd IS NOT NULL) AS spent
      WHERE spent.today_usd + a.usd > c.daily_cap_usd OR spent.month_usd + a.usd > c.monthly_cap_usd
        OR spent.total_usd + a.usd > c.total_cap_usd));
END
$$;

-- Changes what calls count on the caps of their clients and payers, as before. The rows of clients are locked first, as in admission.
CREATE OR REPLACE FUNCTION adjust_spending(calls uuid[], counted_before numeric[], counted_after numeric[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT i.client_id, i.person_id, i.ephemeral_key_id, coalesce(i.reserved_on, d.reserved_on) AS day,
      c.counted_after - coalesce(c.counted_before, i.total_usd + coalesce(i.expected_fee_usd, 0)) AS usd
    FROM unnest(calls, counted_before, counted_after) AS c(id, counted_before, counted_after)
    JOIN intent i ON i.id = c.id LEFT JOIN decision d ON d.intent_id = i.id
    WHERE coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
  ), locked AS MATERIALIZED (
    SELECT s.client_id, s.day, c.usd FROM spending s JOIN (
      SELECT client_id, day, sum(usd) AS usd FROM changed GROUP BY 1, 2) AS c USING (client_id, day)
    WHERE c.usd <> 0 ORDER BY s.client_id, s.day FOR UPDATE OF s
  ), adjusted AS (
    UPDATE spending s SET usd = s.usd + l.usd FROM locked l WHERE s.client_id = l.client_id AND s.day = l.day
  ), locked_payers AS (
    SELECT s.payer_id, s.day, c.usd FROM payer_spending s JOIN (
      SELECT payer_id, day, sum(usd) AS usd FROM changed, unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
      WHERE payer_id IS NOT NULL GROUP BY 1, 2) AS c USING (payer_id, day)
    WHERE c.usd <> 0 AND (SELECT count(*) FROM locked) >= 0 ORDER BY s.payer_id, s.day FOR UPDATE OF s
  )
  UPDATE payer_spending s SET usd = s.usd + l.usd FROM locked_payers l WHERE s.payer_id = l.payer_id AND s.day = l.day
$$;

-- The idempotency keys of end users are their own, so a claim of theirs is the ID of the person, a space, and the key. No key has a
-- space. The key of a call as its claim has it (claimKey of src/journal/records/records.ts):
CREATE FUNCTION scoped_key(person_id uuid, record text, key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(record, '"actor_source":"token"') > 0 OR strpos(record, '"actor_source":"ephemeral"') > 0
    THEN person_id::text || ' ' || key ELSE key END
$$;

-- The form of an erased key, as before (hashedKey of src/journal/lookups/terms.ts): `sha256 …`, and `<person> sha256 …` in the claim of an
-- end user.
CREATE OR REPLACE FUNCTION hashed_key(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(key, 'sha256 ') > 0 THEN key
    ELSE left(key, strpos(key, ' ')) || 'sha256 ' || encode(sha256(convert_to(substr(key, strpos(key, ' ') + 1), 'UTF8')), 'hex') END
$$;

-- Returns whether a record commits to the name of its person (commitment of src/platform/privacy/commitment.ts). A name that was set after an erasure does not belong to the records from
-- before. Recovered records have no commitment.
CREATE FUNCTION is_committed(salt bytea, name text, committed bytea) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(sha256(salt || convert_to(name, 'UTF8')) = committed, committed IS NULL)
$$;

CREATE OR REPLACE VIEW call_state AS
  SELECT i.id AS call_id, i.client_id, i.operation, i.total_usd, i.expires_at, coalesce(d.process, i.process) AS process,
    coalesce(d.decided_at, i.recorded_at) AS released_at, o.upstream_ms, coalesce(s.counted_usd, o.counted_usd) AS counted_usd,
    r.first_call_id IS NOT NULL AS repeats,
    recorded_state(o.kind, r.id IS NOT NULL, s.resolution, i.held_for IS NOT NULL, d.kind) AS state,
    CASE WHEN i.held_for IS NOT NULL AND r.id IS NULL THEN coalesce(d.kind, 'pending') END AS approval,
    i.record::json AS request, o.record::json AS answer
  FROM intent i
  LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN decision d ON d.intent_id = i.id
  LEFT JOIN current_settlement s ON s.intent_id = i.id
  LEFT JOIN refusal r ON r.id = CASE WHEN o.kind IS NULL OR i.held_for IS NOT NULL THEN i.id END
  UNION ALL
  SELECT id, client_id, operation, NULL, NULL, NULL, NULL, NULL, NULL, first_call_id IS NOT NULL, 'refused', NULL,
    json_build_object('key_id', key_id, 'actor', actor, 'actor_source', actor_source, 'actor_commitment', encode(actor_commitment, 'hex'), 'person_id', person_id, 'request_id', request_id, 'client_address', client_address,
      'idempotency_key', coalesce(idempotency_key, key)), NULL
  FROM refusal LEFT JOIN refusal_key ON refusal_id = id WHERE NOT EXISTS (SELECT FROM intent WHERE intent.id = refusal.id);

CREATE OR REPLACE VIEW call_entry AS
  SELECT c.call_id, c.client_id, c.operation, c.state, c.process, c.released_at, c.expires_at, c.repeats, c.total_usd, c.upstream_ms, c.counted_usd,
    coalesce(p.item_usd, '{}') AS item_usd, p.payouts,
    string_to_array(concat(
      'week:', search_week(c.call_id), E'\nhour:', search_hour(c.call_id), E'\ntotal:', search_step(c.total_usd),
      E'\nclient:', c.client_id, E'\nkey:', r.key_id, E'\nstate:', c.state, E'\napproval:' || c.approval,
      search_term(E'\noperation', c.operation), search_term(E'\nactor', coalesce(who.name, r.actor)), E'\nperson:' || r.person_id, E'\nsource:' || r.actor_source,
      search_term(E'\nidempotency', coalesce(r.idempotency_key, b.idempotency_key)), search_term(E'\nrequest', r.request_id),
      search_term(E'\naddress', r.client_address), array_to_string(p.payouts, '')), E'\n') AS terms
  FROM call_state c
  LEFT JOIN intent_body b ON b.intent_id = c.call_id
  CROSS JOIN LATERAL json_to_record(c.request) AS r(
    key_id text, actor text, actor_source text, actor_commitment text, person_id uuid, idempotency_key text, request_id text, client_address text, items json)
  LEFT JOIN person who ON who.id = r.person_id AND is_committed(who.salt, who.name, decode(r.actor_commitment, 'hex'))
  CROSS JOIN LATERAL (
    SELECT array_agg(usd ORDER BY place) FILTER (WHERE place > 0) AS item_usd, array_agg(terms ORDER BY place) AS payouts
    FROM (
      SELECT place, max(usd) AS usd, string_agg(terms, '') AS terms FROM (
        SELECT 0 AS place, NULL::numeric AS usd, '' AS terms
        UNION ALL
        SELECT n.place, n.amount_usd, concat(
          E'\nitem:' || search_step(n.amount_usd), search_term(E'\ncountry', n.country),
          search_term(E'\nnetwork', n.network_code), search_term(E'\nreference', n.reference),
          search_term(E'\nref', n.upstream_ref), search_term(E'\nreceiver', n.receiver), search_beginnings(lower(n.receiver)))
        FROM ROWS FROM (json_to_recordset(r.items) AS (
          amount_usd numeric, country text, network_code text, reference text, upstream_ref text, receiver text
        )) WITH ORDINALITY AS n(amount_usd, country, network_code, reference, upstream_ref, receiver, place)
        UNION ALL
        SELECT n.position + 1, NULL, concat(
          search_term(E'\nto', n.email), search_term(E'\nto', n.phone),
          search_term(E'\nto', n.handle),
          search_beginnings(n.email), search_beginnings(n.phone), search_beginnings(n.handle))
        FROM json_to_recordset(lower(b.people)::json) AS n(position integer, email text, phone text, handle text)
        UNION ALL
        SELECT coalesce(n.position, -1) + 1, NULL, concat(search_term(E'\nref', n.upstream_ref),
          search_term(E'\nref', n.upstream_id), search_term(E'\nref', n.batch_ref))
        FROM json_to_recordset(c.answer -> 'items') AS n(position integer, upstream_ref text, upstream_id text, batch_ref text)
        UNION ALL
        SELECT n.position + 1, NULL, concat(search_term(E'\nref', n.upstream_ref),
          search_term(E'\nref', n.upstream_id), search_term(E'\nref', n.batch_ref))
        FROM settlement s CROSS JOIN LATERAL json_to_recordset(s.record::json -> 'entries') AS n(
          position integer, upstream_ref text, upstream_id text, batch_ref text)
        WHERE s.intent_id = c.call_id
        UNION ALL
        SELECT e.pos + 1, NULL, E'\nentry:' || e.entry FROM unusual_entries(c.call_id, c.answer -> 'entries', r.items) AS e
      ) AS lines GROUP BY place
    ) AS places
  ) AS p;

-- Auditors see the names of persons, until they are erased, and the commitments to them.
CREATE OR REPLACE VIEW audit.calls AS
  SELECT i.id, i.client_id, r.key_id, i.operation, audit.mask_contacts(r.request_id) AS request_id, r.traceparent,
    r.client_address, audit.mask_query(r.query) AS query, i.item_count, i.total_usd, r.coverage, r.caused_by,
    audit.mask_contacts(coalesce(r.idempotency_key, CASE WHEN b.idempotency_key_salt IS NOT NULL THEN b.idempotency_key END)) AS idempotency_key, audit.mask_contacts(coalesce(p.name, r.actor)) AS actor, i.held_for,
    i.expires_at, i.reserved_on, i.process, decode(r.body_commitment, 'hex') AS body_commitment, r.received_at,
    i.recorded_at, r.duplicate_of, i.expected_fee_usd,
    decode(r.idempotency_key_commitment, 'hex') AS idempotency_key_commitment, r.actor_source, i.person_id,
    decode(r.actor_commitment, 'hex') AS actor_commitment, i.ephemeral_key_id
  FROM public.intent i LEFT JOIN public.intent_body b ON b.intent_id = i.id CROSS JOIN LATERAL json_to_record(i.record::json) AS r(
    key_id uuid, request_id text, traceparent text, client_address text, query text, coverage text, caused_by uuid,
    idempotency_key text, idempotency_key_commitment text, actor text, actor_source text, actor_commitment text, body_commitment text, received_at timestamptz, duplicate_of uuid)
  LEFT JOIN public.person p ON p.id = i.person_id AND is_committed(p.salt, p.name, decode(r.actor_commitment, 'hex'));

CREATE OR REPLACE VIEW audit.refusals AS
  SELECT r.id AS call_id, r.client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent,
    client_address, status, code, audit.mask_contacts(detail) AS detail, audit.mask_contacts(faults::text) AS faults,
    fault_count, audit.mask_contacts(coalesce(idempotency_key, CASE WHEN k.salt IS NOT NULL THEN k.key END)) AS idempotency_key, audit.mask_contacts(coalesce(p.name, actor)) AS actor, first_call_id,
    received_at, recorded_at, idempotency_key_commitment, actor_source, person_id, actor_commitment, ephemeral_key_id
  FROM public.refusal r LEFT JOIN public.refusal_key k ON k.refusal_id = r.id
  LEFT JOIN public.person p ON p.id = r.person_id AND is_committed(p.salt, p.name, r.actor_commitment);
