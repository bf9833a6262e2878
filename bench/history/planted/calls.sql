-- Writes planted.items payments, evenly from planted.from to planted.to, in calls of one to five, with their
-- outcomes. planted_theirs has the upstream's view of each. The position of a payment decides its planted
-- difference, so that all are known beforehand. Fees are one per cent.

CREATE TEMP TABLE planted_call AS
SELECT c, size, place, at, fate, operation,
  (left(stamp, 8) || '-' || right(stamp, 4) || '-7' || substr(noise, 1, 3) || '-8' || substr(noise, 4, 3) || '-' || substr(noise, 7, 12))::uuid AS id
FROM (
  SELECT *, at - CASE WHEN fate = 'approved late' THEN interval '3 days' ELSE interval '0' END AS asked_at,
    lpad(to_hex((extract(epoch FROM at - CASE WHEN fate = 'approved late' THEN interval '3 days' ELSE interval '0' END) * 1000)::bigint), 12, '0') AS stamp
  FROM (
    SELECT c, c % 5 + 1 AS size, (c / 5) * 15 + (c % 5) * (c % 5 + 1) / 2 AS place, md5('call' || c) AS noise,
      date_trunc('milliseconds', begins + (ends - begins) * ((c + 0.5) / calls)) AS at,
      CASE c * 37 % 100 WHEN 0 THEN 'no answer' WHEN 1 THEN 'unknown' WHEN 2 THEN 'rejected' WHEN 3 THEN 'confirmed' WHEN 4 THEN 'confirmed, said by a verdict'
        WHEN 5 THEN 'only its issue' WHEN 6 THEN 'only its reference' WHEN 7 THEN 'approved late' WHEN 8 THEN 'link' WHEN 9 THEN 'refused' WHEN 10 THEN 'not sent'
        WHEN 11 THEN 'waiting' WHEN 12 THEN 'collection' WHEN 13 THEN 'rejected, but paid' WHEN 14 THEN 'unknown, but paid' ELSE 'succeeded' END AS fate,
      CASE WHEN c * 37 % 100 = 6 THEN 'POST /payouts/mobile-money' WHEN c * 37 % 100 = 8 THEN 'POST /send'
        WHEN c * 37 % 100 = 12 THEN 'POST /collections/mobile-money/collect'
        WHEN c % 40 = 0 THEN 'POST /account/transfer' WHEN c % 40 = 20 THEN 'POST /wallets/transfer'
        WHEN c * 7 % 10 < 4 THEN 'POST /payouts/airtime' WHEN c * 7 % 10 < 7 THEN 'POST /payouts/mobile-money' ELSE 'POST /payouts/credit' END AS operation
    FROM (
      SELECT generate_series(0, items / 3 - 1) AS c, (items / 3)::numeric AS calls, begins, ends
      FROM (SELECT current_setting('planted.items')::integer AS items, current_setting('planted.from')::timestamptz AS begins,
        current_setting('planted.to')::timestamptz AS ends) AS settings
    ) AS numbered
  ) AS drawn
) AS stamped;

-- Differences on payments of calls that succeeded: one of each per thousand.
CREATE TEMP TABLE planted_item AS
SELECT *, CASE WHEN operation LIKE 'POST /payouts/%' THEN round(usd * 0.01, 6) ELSE 0 END AS fee,
  CASE WHEN by_phone THEN '+254' || (700000000 + person) END AS phone,
  CASE WHEN NOT by_phone AND NOT by_receiver AND k % 3 <> 1 THEN 'Person.' || person || '@example.com' END AS email,
  CASE WHEN NOT by_phone AND NOT by_receiver AND k % 3 <> 0 THEN '@Person_' || person END AS handle,
  CASE WHEN by_receiver THEN 'sub-account-' || person END AS receiver,
  CASE WHEN operation = 'POST /payouts/mobile-money' THEN 'invoice-' || k WHEN operation LIKE '%collect' THEN 'collection-' || k END AS reference,
  md5('chi' || k)::uuid::text AS upstream_ref, substr(md5('id' || k), 1, 20) AS upstream_id, 'issuer_' || c || '_1790000000000' AS batch_ref
FROM (
  SELECT c, id, place, at, fate, operation, position, place + position AS k,
    CASE WHEN fate = 'succeeded' THEN ((place + position) * 7919::bigint % 1000)::integer END AS kind,
    -- Many confirmed payments are alike: one recipient and one amount, some seconds apart.
    CASE WHEN fate = 'confirmed' THEN 90000000 + c / 1000 ELSE place + position END AS person,
    CASE WHEN fate = 'confirmed' THEN 5 ELSE (ARRAY[1, 2, 5, 10, 20, 50, 100])[1 + (place + position) % 7] + (place + position) % 97 * 0.01 + 1 END::numeric(18,6) AS usd,
    CASE WHEN fate = 'confirmed' THEN TRUE ELSE operation IN ('POST /payouts/airtime', 'POST /payouts/mobile-money', 'POST /collections/mobile-money/collect') END AS by_phone,
    operation IN ('POST /account/transfer', 'POST /wallets/transfer') AND fate <> 'confirmed' AS by_receiver
  FROM planted_call CROSS JOIN LATERAL generate_series(0, size - 1) AS position
) AS i;
CREATE INDEX ON planted_item (kind);
CREATE INDEX ON planted_item (id);
ANALYZE planted_item;

-- Parts of the records. json_strip_nulls omits fields without values, and writes no blanks. One person of a
-- thousand was erased.
CREATE TEMP TABLE planted_parts AS
SELECT id, json_agg(json_build_object('amount_usd', CASE WHEN fate <> 'collection' THEN trim_scale(usd)::text END,
    'handle_ignored', CASE WHEN email IS NOT NULL AND handle IS NOT NULL THEN TRUE END, 'receiver', receiver,
    'recipient_field', CASE WHEN phone IS NOT NULL THEN 'phone' WHEN email IS NOT NULL THEN 'email' WHEN handle IS NOT NULL THEN 'handle' ELSE 'receiver' END,
    'reference', reference) ORDER BY position) AS items,
  json_strip_nulls(json_agg(json_build_object('email', email, 'handle', handle, 'phone', phone, 'position', position, 'salt', md5('salt' || k)) ORDER BY position)
    FILTER (WHERE receiver IS NULL AND kind IS DISTINCT FROM 35))::text AS people,
  json_agg(json_build_object('amount_usd', trim_scale(usd)::text, 'batch_ref', batch_ref, 'fee_usd', CASE WHEN fee > 0 THEN trim_scale(fee)::text END, 'position', CASE WHEN fate <> 'only its issue' THEN position END, 'status', 'paid',
    'upstream_id', CASE WHEN fate <> 'only its issue' THEN upstream_id END,
    'upstream_ref', CASE WHEN fate <> 'only its issue' AND kind IS DISTINCT FROM 38 THEN upstream_ref END) ORDER BY position)
    FILTER (WHERE fate IN ('succeeded', 'approved late', 'only its issue', 'link')) AS transactions
FROM planted_item GROUP BY id;
CREATE INDEX ON planted_parts (id);
ANALYZE planted_parts;

INSERT INTO intent (id, client_id, operation, item_count, held_for, expires_at, process, recorded_at, record)
SELECT id, client_id, operation, item_count, held_for, expires_at, 0, recorded_at, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT '::1' AS client_address, client_id, to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires_at, held_for, id, item_count, items, client_id AS key_id,
        operation, 0 AS process, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS received_at, to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS recorded_at,
        'planted' AS request_id, 'intent' AS "table") AS m)
FROM (
  SELECT id, uuid_floor(now()) AS client_id, operation, size AS item_count, at, items,
    at - CASE WHEN fate = 'approved late' THEN interval '3 days' ELSE interval '0' END AS recorded_at,
    CASE WHEN fate IN ('approved late', 'waiting') THEN 'over_threshold' END AS held_for,
    (CASE WHEN fate IN ('approved late', 'waiting') THEN at + interval '1 day' END)::timestamptz(3) AS expires_at
  FROM planted_call LEFT JOIN planted_parts USING (id)
) AS i;

INSERT INTO intent_body (intent_id, people) SELECT id, people FROM planted_parts WHERE people IS NOT NULL;

INSERT INTO decision (intent_id, kind, reason, client_id, key_id, decided_at, process)
SELECT id, 'approved', 'planted', uuid_floor(now()), uuid_floor(now()), at, 0 FROM planted_call WHERE fate = 'approved late';

INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail, faults, fault_count, received_at, recorded_at)
SELECT id, uuid_floor(now()), uuid_floor(now()), operation, 'planted', '::1', 503, 'unavailable', 'planted', '[]', 0, at, at FROM planted_call WHERE fate = 'refused';

INSERT INTO outcome (intent_id, kind, upstream_ms, sent_at, answered_at, recorded_at, record)
SELECT id, kind, 1000, at, answered_at, answered_at, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT to_char(answered_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS answered_at, 1 AS attempts, entries, id AS intent_id, items, kind,
        to_char(answered_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS recorded_at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS sent_at, 'outcome' AS "table",
        '1000.000' AS upstream_ms) AS m)
FROM (
  SELECT id, CASE WHEN fate IN ('unknown', 'unknown, but paid', 'confirmed', 'confirmed, said by a verdict') THEN 'unknown'
      WHEN fate IN ('rejected', 'rejected, but paid') THEN 'rejected' WHEN fate = 'not sent' THEN 'not_sent' ELSE 'succeeded' END AS kind,
    at, at + interval '1 second' AS answered_at, transactions AS items,
    CASE WHEN fate IN ('link', 'collection') THEN 'pending' WHEN fate LIKE 'rejected%' OR fate = 'not sent' THEN 'not_executed'
      WHEN fate NOT LIKE 'unknown%' AND fate NOT LIKE 'confirmed%' THEN 'paid' END AS entries
  FROM planted_call LEFT JOIN planted_parts USING (id) WHERE fate NOT IN ('no answer', 'refused', 'waiting')
) AS o;

INSERT INTO settlement (id, intent_id, number, resolution, counted_usd, recorded_at, record)
SELECT id, id, 1, 'confirmed', 0, settled_at, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT '0' AS counted_usd, coalesce(entries, '[]') AS entries, id, id AS intent_id, 1 AS number, 'planted' AS reason,
        to_char(settled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS recorded_at, 'confirmed' AS resolution, 'resolver' AS source,
        id AS supersedes, 'settlement' AS "table") AS m)
FROM (
  SELECT c.id, at + interval '20 minutes' AS settled_at, (
    SELECT json_agg(json_build_object('batch_ref', batch_ref, 'entry', 'paid', 'from', 'reserved', 'position', position, 'to', 'recipient', 'upstream_id', upstream_id, 'upstream_ref', upstream_ref))
    FROM planted_item i WHERE i.id = c.id AND i.fate = 'confirmed, said by a verdict') AS entries
  FROM planted_call c WHERE fate LIKE 'confirmed%'
) AS s;
