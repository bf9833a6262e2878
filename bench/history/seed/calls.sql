-- Inserts the calls seed.first to seed.last of seed.calls, evenly from seed.begin to seed.end, in one
-- transaction, with their requesters and outcomes. The same settings make the same history, except for the
-- salts. Bodies and people have the commitments of the proxy: SHA-256(salt || value).
SELECT setseed((hashint8(current_setting('seed.random')::bigint * 1000003 + current_setting('seed.first')::bigint) / 2147483648.0)::float8);

CREATE TEMP TABLE seed_drawn ON COMMIT DROP AS
SELECT n, at, lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS stamp,
  floor(36 * power(random(), 2))::integer AS key_place, random() AS operation, random() AS fate, random() AS items, random() AS actor,
  random() AS claimed, (40 * power(random(), 2))::integer AS address, random() AS speed, random() AS settled,
  to_hex((random() * 4294967295)::bigint) || to_hex((random() * 4294967295)::bigint) AS noise
FROM (
  SELECT n, date_trunc('milliseconds', begin + (until - begin) * (n / calls)) AS at
  FROM generate_series(current_setting('seed.first')::bigint, current_setting('seed.last')::bigint) AS n,
    (SELECT current_setting('seed.begin')::timestamptz AS begin, current_setting('seed.end')::timestamptz AS until,
       current_setting('seed.calls')::float8 AS calls) AS settings
) AS times;

-- Random outcomes: of a hundred calls, four are refused, one waits or waited for an approval, and one is or
-- was in doubt.
CREATE TEMP TABLE seed_call ON COMMIT DROP AS
SELECT d.n, d.at, k.client_id, k.key_id, d.key_place, p.id AS person_id,
  encode(sha256(p.salt || convert_to(p.name, 'UTF8')), 'hex') AS actor_commitment,
  (left(stamp, 8) || '-' || right(stamp, 4) || '-7' || substr(md5(noise), 1, 3) || '-8' || substr(md5(noise), 4, 3) || '-' || substr(md5(noise), 7, 12))::uuid AS id,
  CASE WHEN operation < 0.35 THEN 'POST /payouts/airtime' WHEN operation < 0.55 THEN 'POST /payouts/mobile-money'
    WHEN operation < 0.65 THEN 'POST /payouts/credit' WHEN operation < 0.70 THEN 'POST /send' WHEN operation < 0.74 THEN 'POST /account/transfer'
    WHEN operation < 0.76 THEN 'POST /account/delete-unpaid-transaction' WHEN operation < 0.80 THEN 'POST /payouts/initiate-credit'
    WHEN operation < 0.90 THEN 'GET /wallets/list' WHEN operation < 0.95 THEN 'POST /account/transactions' ELSE 'GET /account/transaction' END AS operation,
  CASE WHEN fate < 0.04 THEN 'refused' WHEN operation < 0.70 AND fate < 0.05 THEN 'held' WHEN fate < 0.056 THEN 'lost' WHEN fate < 0.062 THEN 'unknown'
    WHEN fate < 0.067 THEN 'not_sent' WHEN fate < 0.12 THEN 'rejected' ELSE 'succeeded' END AS fate,
  CASE WHEN operation < 0.70 OR operation BETWEEN 0.76 AND 0.80
    THEN CASE WHEN items < 0.70 THEN 1 WHEN items < 0.90 THEN 2 WHEN items < 0.96 THEN 3 WHEN items < 0.99 THEN 4 ELSE 5 END
    WHEN operation < 0.76 THEN 1 ELSE 0 END AS item_count,
  CASE WHEN claimed < 0.7 AND operation < 0.80 THEN md5(noise || 'key')::uuid::text END AS idempotency_key,
  decode(md5(noise || clock_timestamp()), 'hex') AS key_salt,
  'request-' || md5(noise || 'request') AS request_id,
  '192.0.2.' || address AS client_address,
  round((20 + 60 * power(speed, 6) * 100)::numeric, 3) AS upstream_ms,
  settled
FROM seed_drawn d JOIN seed_key k ON k.place = d.key_place
  LEFT JOIN seed_person p ON actor < 0.6 AND p.client_id = k.client_id AND p.name = 'clerk-' || (300 * power(actor / 0.6, 2))::integer;

CREATE TEMP TABLE seed_item ON COMMIT DROP AS
SELECT i.*, CASE
    WHEN operation = 'POST /account/delete-unpaid-transaction' THEN NULL
    WHEN common < 0.6 THEN (ARRAY[1, 2, 5, 10, 20, 50, 100])[1 + floor(7 * usual)::integer]::numeric
    ELSE round((power(10, common * 7 - 4.3))::numeric, 2) + 0.01 END AS usd,
  CASE WHEN by_phone THEN c.dial || (700000000 + person * 1009 % 99000000) END AS phone,
  CASE WHEN by_mail THEN (ARRAY['ada', 'grace', 'alan', 'edsger', 'barbara'])[1 + person % 5] || '.' || person || '@example.com' END AS email,
  CASE WHEN operation IN ('POST /send', 'POST /payouts/credit', 'POST /payouts/initiate-credit') AND NOT by_mail THEN '@person' || person END AS handle,
  CASE WHEN by_phone THEN c.name END AS country,
  CASE WHEN operation = 'POST /payouts/mobile-money' THEN coalesce(c.networks[1 + person % greatest(cardinality(c.networks), 1)], 'BANK') END AS network_code,
  CASE WHEN operation = 'POST /payouts/mobile-money' THEN 'invoice-' || n || '-' || position END AS reference,
  CASE WHEN operation = 'POST /account/transfer' THEN 'sub-account-' || person % 500 END AS receiver,
  decode(md5(id::text || position || clock_timestamp()), 'hex') AS salt,
  'chi-' || md5(id::text || position) AS upstream_ref
FROM (
  SELECT n, id, operation, position, (60000 * power(random(), 1.5))::bigint AS person, floor(15 * power(random(), 2.2))::integer AS place,
    random() AS common, random() AS usual,
    operation IN ('POST /payouts/airtime', 'POST /payouts/mobile-money') AS by_phone,
    operation IN ('POST /send', 'POST /payouts/credit', 'POST /payouts/initiate-credit') AND random() < 0.8 AS by_mail
  FROM seed_call CROSS JOIN LATERAL generate_series(0, item_count - 1) AS position WHERE fate <> 'refused'
) AS i JOIN seed_country c ON c.place = i.place;

CREATE TEMP TABLE seed_body ON COMMIT DROP AS
SELECT id, trim_scale(sum(usd)) AS total_usd, decode(md5(id::text || clock_timestamp()), 'hex') AS salt, convert_to(CASE min(operation)
    WHEN 'POST /account/transfer' THEN '{"receiver":' || to_json(min(receiver)) || ',"amount":' || trim_scale(min(usd)) || '}'
    WHEN 'POST /account/delete-unpaid-transaction' THEN '{"chiRef":' || to_json(min(upstream_ref)) || '}'
    ELSE '{"' || CASE min(operation) WHEN 'POST /payouts/airtime' THEN 'airtimes' WHEN 'POST /payouts/mobile-money' THEN 'momos' WHEN 'POST /send' THEN 'credit' ELSE 'credits' END || '":[' ||
      string_agg(json_strip_nulls(json_build_object('countryToSend', country, 'phoneNumber', phone, 'email', email, 'twitter', handle,
        'reference', reference, 'momoCode', network_code, 'valueInUSD', trim_scale(usd)))::text, ',' ORDER BY position) || ']}' END, 'UTF8') AS body,
  convert_to('{"status":"success","data":{"error":"None","data":[' ||
    string_agg(json_build_object('chiRef', upstream_ref, 'id', 'tx-' || right(upstream_ref, 20), 'issueID', 'issue-' || n, 'status', 'paid', 'valueInUSD', trim_scale(usd)::text)::text, ',' ORDER BY position)
    || ']}}', 'UTF8') AS answer,
  -- Parts of the documents. json_strip_nulls omits fields without values, and writes no blanks.
  json_agg(json_build_object('amount_usd', trim_scale(usd)::text, 'country', country,
    'network_code', network_code, 'receiver', receiver,
    'recipient_field', CASE WHEN email IS NOT NULL THEN 'email' WHEN handle IS NOT NULL THEN 'handle' WHEN phone IS NOT NULL THEN 'phone' WHEN receiver IS NOT NULL THEN 'receiver' END,
    'reference', reference, 'upstream_ref', CASE WHEN operation = 'POST /account/delete-unpaid-transaction' THEN upstream_ref END) ORDER BY position) AS items,
  json_strip_nulls(json_agg(json_build_object('email', email, 'handle', handle, 'phone', phone, 'position', position, 'salt', encode(salt, 'hex')) ORDER BY position)
    FILTER (WHERE coalesce(email, handle, phone) IS NOT NULL))::text AS people,
  -- The salt is the call's id (src/journal/records/recipients.ts).
  encode(sha256(uuid_send(id) || convert_to(json_strip_nulls(json_agg(json_build_object('email_commitment', encode(sha256(salt || convert_to(email, 'UTF8')), 'hex'),
    'handle_commitment', encode(sha256(salt || convert_to(handle, 'UTF8')), 'hex'), 'phone_commitment', encode(sha256(salt || convert_to(phone, 'UTF8')), 'hex'),
    'position', position) ORDER BY position) FILTER (WHERE coalesce(email, handle, phone) IS NOT NULL))::text, 'UTF8')), 'hex') AS recipients_commitment,
  -- One call in a hundred does not show which payout its transactions belong to.
  json_agg(json_build_object('amount_usd', trim_scale(usd)::text, 'batch_ref', 'issue-' || n, 'position', CASE WHEN n % 100 <> 0 THEN position END, 'status', 'paid',
    'upstream_id', 'tx-' || right(upstream_ref, 20), 'upstream_ref', upstream_ref) ORDER BY position) FILTER (WHERE operation <> 'POST /account/delete-unpaid-transaction') AS transactions
FROM seed_item GROUP BY id;
CREATE INDEX ON seed_body (id);
ANALYZE seed_body;

-- Members are in the order of canonical JSON. The last held calls are still pending, within the time for
-- approvals.
INSERT INTO intent (id, client_id, operation, person_id, item_count, total_usd, held_for, expires_at, reserved_on, process, recorded_at, record)
SELECT id, client_id, operation, person_id, item_count, total_usd, held_for, expires_at, reserved_on, 0, at, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT actor_commitment, actor_source, body_commitment, client_address, client_id, to_char(expires_at, pg_temp.seed_ms()) AS expires_at, held_for, id,
        idempotency_key_commitment, item_count, items, key_id, operation, person_id, 0 AS process, to_char(at, pg_temp.seed_ms()) AS received_at, recipients_commitment, to_char(at, pg_temp.seed_us()) AS recorded_at, request_id, reserved_on, 'intent' AS "table",
        total_usd::text AS total_usd) AS m)
FROM (
  SELECT c.*, total_usd, items, recipients_commitment, CASE WHEN person_id IS NOT NULL THEN 'claimed' END AS actor_source,
    encode(sha256(key_salt || convert_to(idempotency_key, 'UTF8')), 'hex') AS idempotency_key_commitment, encode(sha256(b.salt || b.body), 'hex') AS body_commitment, CASE WHEN fate = 'held' THEN 'over_threshold' END AS held_for,
    CASE WHEN fate = 'held' THEN at + interval '1 day' END AS expires_at,
    CASE WHEN total_usd IS NOT NULL AND fate <> 'held' AND operation <> 'POST /payouts/initiate-credit' AND operation <> 'POST /send'
      THEN (at AT TIME ZONE 'UTC')::date END AS reserved_on
  FROM seed_call c LEFT JOIN seed_body b ON b.id = c.id WHERE fate <> 'refused'
) AS i;

INSERT INTO intent_body (intent_id, salt, body, people, idempotency_key, idempotency_key_salt)
SELECT c.id, salt, body, people, idempotency_key, CASE WHEN idempotency_key IS NOT NULL THEN key_salt END
FROM seed_call c LEFT JOIN seed_body b ON b.id = c.id
WHERE fate <> 'refused' AND (body IS NOT NULL OR idempotency_key IS NOT NULL);

INSERT INTO idempotency_claim (client_id, operation, key, intent_id, salt, content_hash)
SELECT client_id, operation, idempotency_key, id, decode(md5(id::text || 'claim'), 'hex'), sha256(decode(md5(id::text), 'hex'))
FROM seed_call WHERE fate <> 'refused' AND idempotency_key IS NOT NULL ORDER BY 1, 2, 3;

INSERT INTO decision (intent_id, kind, reason, body_commitment, client_id, key_id, actor, decided_at, reserved_on, process)
SELECT c.id, CASE WHEN settled < 0.7 THEN 'approved' ELSE 'rejected' END, 'as agreed', sha256(b.salt || b.body), k.client_id, k.key_id, 'approver-1', at + interval '10 minutes',
  CASE WHEN settled < 0.7 AND total_usd IS NOT NULL AND operation <> 'POST /send' THEN ((at + interval '10 minutes') AT TIME ZONE 'UTC')::date END, 0
FROM seed_call c JOIN seed_body b ON b.id = c.id JOIN seed_key k ON k.place = (c.key_place + 3) % 36
WHERE fate = 'held' AND settled < 0.82 AND at < current_setting('seed.end')::timestamptz - interval '1 hour';

-- An approved call is paid, and a lost one has no outcome.
CREATE TEMP TABLE seed_outcome ON COMMIT DROP AS
SELECT c.id, c.operation, upstream_ms, b.answer, b.transactions, CASE WHEN fate = 'held' THEN 'succeeded' ELSE fate END AS kind,
  coalesce(d.decided_at, at) + interval '2 milliseconds' AS sent_at, decode(md5(c.id::text || 'answer' || clock_timestamp()), 'hex') AS salt
FROM seed_call c LEFT JOIN decision d ON d.intent_id = c.id LEFT JOIN seed_body b ON b.id = c.id
WHERE fate IN ('succeeded', 'rejected', 'not_sent', 'unknown') OR d.kind = 'approved';
UPDATE seed_outcome SET answer = CASE kind
  WHEN 'succeeded' THEN coalesce(answer, convert_to('{"status":"success","data":[]}', 'UTF8'))
  WHEN 'rejected' THEN convert_to('{"status":"error","error":"not enough in the wallet"}', 'UTF8') END WHERE kind <> 'succeeded' OR answer IS NULL;

INSERT INTO outcome (intent_id, kind, upstream_status, upstream_ms, sent_at, answered_at, recorded_at, counted_usd, record)
SELECT id, kind, upstream_status, upstream_ms, sent_at, answered_at, recorded_at, counted_usd::numeric, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT to_char(answered_at, pg_temp.seed_us()) AS answered_at, 1 AS attempts, encode(sha256(salt || answer), 'hex') AS body_commitment,
        CASE WHEN answer IS NOT NULL THEN 'application/json' END AS content_type, counted_usd, entries, CASE kind WHEN 'unknown' THEN 'timeout' WHEN 'not_sent' THEN 'refused' END AS failure,
        id AS intent_id, CASE WHEN kind = 'succeeded' THEN transactions END AS items, kind, to_char(recorded_at, pg_temp.seed_us()) AS recorded_at,
        to_char(sent_at, pg_temp.seed_ms()) AS sent_at, 'outcome' AS "table", upstream_ms::text AS upstream_ms, upstream_status) AS m)
FROM (
  SELECT *, CASE kind WHEN 'succeeded' THEN 200 WHEN 'rejected' THEN 400 END AS upstream_status,
    CASE WHEN kind IN ('rejected', 'not_sent') THEN '0' END AS counted_usd,
    CASE WHEN operation LIKE '%delete%' THEN NULL WHEN kind = 'unknown' THEN 'in_doubt' WHEN kind <> 'succeeded' THEN 'not_executed'
      WHEN operation IN ('POST /send', 'POST /payouts/initiate-credit') THEN 'pending' ELSE 'paid' END AS entries, sent_at + upstream_ms * interval '1 millisecond' AS answered_at,
    sent_at + (upstream_ms + 1) * interval '1 millisecond' AS recorded_at FROM seed_outcome
) AS o;

INSERT INTO outcome_body (intent_id, salt, body) SELECT id, salt, answer FROM seed_outcome WHERE answer IS NOT NULL;

INSERT INTO settlement (id, intent_id, number, resolution, counted_usd, recorded_at, record)
SELECT id, intent_id, number, resolution, counted_usd::numeric, settled_at, (
    SELECT json_strip_nulls(row_to_json(m))::text FROM (
      SELECT 'approver-1' AS actor, client_id, counted_usd, coalesce(entries, '[]') AS entries, id, intent_id, key_id, number, 'looked up at the provider' AS reason,
        to_char(settled_at, pg_temp.seed_us()) AS recorded_at, resolution, 'person' AS source, intent_id AS supersedes, 'settlement' AS "table") AS m)
FROM (
  SELECT c.id AS intent_id, 1 AS number, k.client_id, k.key_id, s.resolution, at + interval '1 day' AS settled_at,
    overlay(uuid_floor(at + interval '1 day')::text PLACING '7' || substr(md5(c.id::text), 1, 3) || '-8' || substr(md5(c.id::text), 4, 3) || '-' || substr(md5(c.id::text), 7, 12) FROM 15)::uuid AS id,
    CASE WHEN s.resolution = 'not_executed' THEN '0' ELSE coalesce(b.total_usd, 0)::text END AS counted_usd,
    (SELECT json_agg(json_build_object('amount_usd', i ->> 'amount_usd', 'entry', CASE s.resolution WHEN 'confirmed' THEN 'paid' ELSE 'not_executed' END, 'from', 'reserved',
       'position', n - 1, 'to', CASE s.resolution WHEN 'confirmed' THEN 'recipient' ELSE 'available' END) ORDER BY n)
     FROM json_array_elements(b.items) WITH ORDINALITY AS t(i, n) WHERE c.operation NOT LIKE '%delete%') AS entries
  FROM seed_call c JOIN seed_key k ON k.place = (c.key_place + 3) % 36 JOIN seed_body b ON b.id = c.id
  CROSS JOIN LATERAL (SELECT CASE WHEN settled < 0.4 THEN 'confirmed' ELSE 'not_executed' END AS resolution) AS s
  WHERE fate IN ('lost', 'unknown') AND settled < 0.7 AND at < current_setting('seed.end')::timestamptz - interval '2 days'
) AS s;

INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail, faults, fault_count, received_at, recorded_at,
  idempotency_key_commitment, actor_source, actor_commitment, person_id)
SELECT id, client_id, key_id, operation, request_id, client_address, CASE WHEN settled < 0.5 THEN 400 ELSE 403 END,
  CASE WHEN settled < 0.5 THEN 'invalid_request' ELSE 'cap_exceeded' END, 'This is over a limit of your client; nothing was sent.', '[]', 0, at, at,
  sha256(key_salt || convert_to(idempotency_key, 'UTF8')), CASE WHEN person_id IS NOT NULL THEN 'claimed' END, decode(actor_commitment, 'hex'), person_id
FROM seed_call WHERE fate = 'refused';

INSERT INTO refusal_key (refusal_id, salt, key)
SELECT id, key_salt, idempotency_key FROM seed_call WHERE fate = 'refused' AND idempotency_key IS NOT NULL;

-- The next statements read tables that may be huge and have no statistics yet.
SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;

INSERT INTO spending (client_id, day, usd)
SELECT i.client_id, coalesce(i.reserved_on, d.reserved_on), sum(coalesce(s.counted_usd, o.counted_usd, i.total_usd))
FROM seed_call c JOIN intent i ON i.id = c.id LEFT JOIN decision d ON d.intent_id = i.id LEFT JOIN outcome o ON o.intent_id = i.id
  LEFT JOIN settlement s ON s.intent_id = i.id
WHERE coalesce(i.reserved_on, d.reserved_on) IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2 -- two batches may share a day
ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd;
