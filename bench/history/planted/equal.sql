-- Writes planted.items calls in doubt with one equal payout each, evenly over an hour, and the upstream's
-- transactions of all but planted.missing of them (planted_theirs).

CREATE TEMP TABLE planted_call AS
SELECT c, at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS instant,
  (left(stamp, 8) || '-' || right(stamp, 4) || '-7' || substr(noise, 1, 3) || '-8' || substr(noise, 4, 3) || '-' || substr(noise, 7, 12))::uuid AS id
FROM (
  SELECT c, at, md5('equal' || c) AS noise, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS stamp
  FROM (
    SELECT c, date_trunc('milliseconds', now() - interval '2 hours' + interval '1 hour' * (c + 0.5) / current_setting('planted.items')::integer) AS at
    FROM generate_series(0, current_setting('planted.items')::integer - 1) AS c
  ) AS numbered
) AS stamped;

INSERT INTO intent (id, client_id, operation, item_count, process, recorded_at, record)
SELECT id, uuid_floor(now()), 'POST /payouts/airtime', 1, 0, at, (
    SELECT row_to_json(m)::text FROM (
      SELECT '::1' AS client_address, uuid_floor(now()) AS client_id, id, 1 AS item_count, '[{"amount_usd":"5","recipient_field":"phone"}]'::json AS items,
        uuid_floor(now()) AS key_id, 'POST /payouts/airtime' AS operation, 0 AS process, instant AS received_at, instant AS recorded_at, 'planted' AS request_id,
        'intent' AS "table") AS m)
FROM planted_call;

INSERT INTO intent_body (intent_id, people)
SELECT id, '[{"phone":"+254700000001","position":0,"salt":"' || md5('salt' || c) || '"}]' FROM planted_call;

INSERT INTO outcome (intent_id, kind, upstream_ms, sent_at, answered_at, recorded_at, record)
SELECT id, 'unknown', 1000, at, at, at, (
    SELECT row_to_json(m)::text FROM (
      SELECT instant AS answered_at, 1 AS attempts, 'no_answer' AS failure, id AS intent_id, 'unknown' AS kind, instant AS recorded_at, instant AS sent_at,
        'outcome' AS "table", '1000.000' AS upstream_ms) AS m)
FROM planted_call;

CREATE TEMP TABLE planted_theirs AS
SELECT c AS of_item, NULL::integer AS kind, md5('chi' || c)::uuid::text AS upstream_ref, substr(md5('id' || c), 1, 20) AS upstream_id, 'issuer_5_' || c AS batch_ref,
  at + interval '1 second' AS issued_at, 'airtime' AS type, 'paid' AS status, 5::numeric AS amount_usd, NULL::numeric AS fee_usd, NULL::text AS email,
  '+254700000001' AS phone, NULL::text AS handle, NULL::text AS receiver, NULL::text AS reference
FROM planted_call WHERE c >= current_setting('planted.missing')::integer
UNION ALL
SELECT -1, NULL, md5('before')::uuid::text, substr(md5('before'), 1, 20), NULL, now() - interval '1 day', 'airtime', 'paid', 3, NULL, NULL, '+254700000002', NULL, NULL, NULL;
