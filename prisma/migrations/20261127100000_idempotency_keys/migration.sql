-- Idempotency keys beside the records. A key may spell somebody's number, so records keep a salted commitment to it, and the text is
-- in a row that can be erased. Records that an older program wrote have the text itself.

INSERT INTO migration_compatibility VALUES ('20261127100000_idempotency_keys', '20261124000000_init');

-- Returns the form that takes the place of an erased key. A request with the key still finds it, so nothing is paid twice. No key
-- has a space (hashedKey of src/journal/lookups/terms.ts). The function is STABLE, so that Postgres inlines it.
CREATE FUNCTION hashed_key(key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN starts_with(key, 'sha256 ') THEN key ELSE 'sha256 ' || encode(sha256(convert_to(key, 'UTF8')), 'hex') END
$$;

-- The key of a request, and the salt of its commitment. An erased key has no salt, and is its hashed_key(). So is the key of a claim
-- (idempotency_claim) whose call's key was erased.
ALTER TABLE intent_body ADD COLUMN idempotency_key text, ADD COLUMN idempotency_key_salt bytea;

-- The key of a refused request, in the same way. An intent may have the same id, and its own row.
CREATE TABLE refusal_key (
  refusal_id uuid PRIMARY KEY,
  salt       bytea, -- null: the key was erased
  key        text NOT NULL
) PARTITION BY RANGE (refusal_id);
ALTER TABLE refusal ADD COLUMN idempotency_key_commitment bytea; -- SHA-256(salt || key); null: there was none, or idempotency_key has it

CREATE OR REPLACE FUNCTION monthly_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT ARRAY[
    'intent', 'outcome', 'refusal',
    'intent_body', 'outcome_body', 'refusal_key',
    'upstream_transaction', 'reconciliation_match']
$$;

SELECT make_partition('refusal_key', 'refusal_key_default', 'DEFAULT');
SELECT make_partitions(1);

GRANT SELECT, INSERT ON refusal_key TO payout_proxy;

-- Returns whether nothing stands against calls, as before (decide of src/policy/decide.ts). A key is also taken if it was erased.
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
          WHERE c.client_id = a.client_id AND c.operation = a.operation AND c.key IN (a.key, hashed_key(a.key)) OFFSET 0)
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
    json_build_object('key_id', key_id, 'actor', actor, 'request_id', request_id, 'client_address', client_address,
      'idempotency_key', coalesce(idempotency_key, key)), NULL
  FROM refusal LEFT JOIN refusal_key ON refusal_id = id WHERE NOT EXISTS (SELECT FROM intent WHERE intent.id = refusal.id);

CREATE OR REPLACE VIEW call_entry AS
  SELECT c.call_id, c.client_id, c.operation, c.state, c.process, c.released_at, c.expires_at, c.repeats, c.total_usd, c.upstream_ms, c.counted_usd,
    coalesce(p.item_usd, '{}') AS item_usd, p.payouts,
    string_to_array(concat(
      'week:', search_week(c.call_id), E'\nhour:', search_hour(c.call_id), E'\ntotal:', search_step(c.total_usd),
      E'\nclient:', c.client_id, E'\nkey:', r.key_id, E'\nstate:', c.state, E'\napproval:' || c.approval,
      search_term(E'\noperation', c.operation), search_term(E'\nactor', r.actor),
      search_term(E'\nidempotency', coalesce(r.idempotency_key, b.idempotency_key)), search_term(E'\nrequest', r.request_id),
      search_term(E'\naddress', r.client_address), array_to_string(p.payouts, '')), E'\n') AS terms
  FROM call_state c
  LEFT JOIN intent_body b ON b.intent_id = c.call_id
  CROSS JOIN LATERAL json_to_record(c.request) AS r(
    key_id text, actor text, idempotency_key text, request_id text, client_address text, items json)
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

-- Auditors see keys as before, and the commitments to them.
CREATE OR REPLACE VIEW audit.calls AS
  SELECT i.id, i.client_id, r.key_id, i.operation, audit.mask_contacts(r.request_id) AS request_id, r.traceparent,
    r.client_address, audit.mask_query(r.query) AS query, i.item_count, i.total_usd, r.coverage, r.caused_by,
    audit.mask_contacts(coalesce(r.idempotency_key, CASE WHEN b.idempotency_key_salt IS NOT NULL THEN b.idempotency_key END)) AS idempotency_key, audit.mask_contacts(r.actor) AS actor, i.held_for,
    i.expires_at, i.reserved_on, i.process, decode(r.body_commitment, 'hex') AS body_commitment, r.received_at,
    i.recorded_at, r.duplicate_of, i.expected_fee_usd,
    decode(r.idempotency_key_commitment, 'hex') AS idempotency_key_commitment
  FROM public.intent i LEFT JOIN public.intent_body b ON b.intent_id = i.id CROSS JOIN LATERAL json_to_record(i.record::json) AS r(
    key_id uuid, request_id text, traceparent text, client_address text, query text, coverage text, caused_by uuid,
    idempotency_key text, idempotency_key_commitment text, actor text, body_commitment text, received_at timestamptz, duplicate_of uuid);

CREATE OR REPLACE VIEW audit.refusals AS
  SELECT id AS call_id, client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent,
    client_address, status, code, audit.mask_contacts(detail) AS detail, audit.mask_contacts(faults::text) AS faults,
    fault_count, audit.mask_contacts(coalesce(idempotency_key, CASE WHEN salt IS NOT NULL THEN key END)) AS idempotency_key, audit.mask_contacts(actor) AS actor, first_call_id,
    received_at, recorded_at, idempotency_key_commitment
  FROM public.refusal LEFT JOIN public.refusal_key ON refusal_id = id;
