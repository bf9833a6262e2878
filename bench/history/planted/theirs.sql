-- The upstream's view, in no order (planted_theirs), and the expected findings (planted_expected).

CREATE TEMP TABLE planted_theirs AS
SELECT k AS of_item, kind, CASE WHEN kind = 38 THEN NULL ELSE upstream_ref END AS upstream_ref, upstream_id, batch_ref,
  CASE WHEN kind = 40 THEN NULL ELSE at + CASE WHEN kind IN (6, 15, 18) THEN interval '10 minutes' WHEN kind = 37 THEN interval '-40 seconds'
    ELSE make_interval(secs => 1 + k % 13) END END AS issued_at,
  CASE WHEN fate = 'collection' THEN 'payment' WHEN operation = 'POST /payouts/airtime' THEN 'airtime' WHEN operation = 'POST /payouts/mobile-money' THEN 'momo'
    WHEN receiver IS NOT NULL THEN 'transfer' ELSE 'credit' END AS type,
  CASE WHEN fate = 'link' AND k % 2 = 0 THEN 'unpaid' WHEN kind = 3 OR kind = 17 THEN 'reversed' WHEN kind = 4 THEN 'FAILED' WHEN kind IN (8, 18) THEN 'Teleported'
    WHEN kind = 32 THEN 'pending' WHEN kind = 33 THEN 'SUCCESSFUL' ELSE 'paid' END AS status,
  usd + CASE WHEN kind IN (1, 15, 17) THEN 1.25 WHEN kind IN (2, 16) THEN -0.75 ELSE 0 END AS amount_usd,
  nullif(fee + CASE WHEN kind IN (7, 16) THEN 0.5 WHEN kind = 34 THEN 0.004 ELSE 0 END, 0) AS fee_usd,
  CASE WHEN kind IN (5, 16) THEN 'other.' || k || '@example.org' WHEN kind = 31 THEN upper(email) WHEN kind IS DISTINCT FROM 36 THEN email END AS email,
  CASE WHEN kind = 31 THEN regexp_replace(phone, '^\+(...)(...)', '00\1 (\2) ') WHEN kind IS NULL OR kind NOT IN (5, 16, 36) THEN phone END AS phone,
  CASE WHEN kind = 31 THEN lower(substr(handle, 2)) WHEN email IS NULL AND (kind IS NULL OR kind NOT IN (5, 16, 36)) THEN handle END AS handle,
  CASE WHEN kind IS NULL OR kind NOT IN (5, 16, 36) THEN receiver END AS receiver, reference
FROM planted_item
WHERE fate NOT IN ('no answer', 'unknown', 'rejected', 'refused', 'not sent', 'waiting') AND kind IS DISTINCT FROM 0;

-- Payments listed twice under one name, twice under two, and never requested: with every kind of name, and
-- with none.
INSERT INTO planted_theirs
SELECT of_item, 1000 + kind, CASE kind WHEN 9 THEN upstream_ref WHEN 12 THEN NULL WHEN 13 THEN NULL ELSE md5('more' || of_item)::uuid::text END,
  CASE kind WHEN 9 THEN upstream_id WHEN 13 THEN NULL ELSE substr(md5('more' || of_item), 1, 20) END, CASE WHEN kind = 9 THEN batch_ref ELSE 'elsewhere_' || of_item || '_1790000000000' END,
  issued_at + interval '30 seconds', type, CASE kind WHEN 14 THEN 'unpaid' WHEN 19 THEN 'Teleported' ELSE 'paid' END,
  amount_usd + CASE WHEN kind IN (9, 10) THEN 0 ELSE 0.37 END, fee_usd,
  CASE WHEN kind IN (9, 10) THEN email ELSE 'stranger.' || of_item || '@example.net' END, CASE WHEN kind IN (9, 10) THEN phone END,
  CASE WHEN kind IN (9, 10) THEN handle END, CASE WHEN kind IN (9, 10) THEN receiver END, CASE WHEN kind IN (9, 10) THEN reference END
FROM planted_theirs WHERE kind IN (9, 10, 11, 12, 13, 14, 19);

-- Transactions that are no payments: a refund, and a top-up that looks like a second payment.
INSERT INTO planted_theirs
SELECT of_item, 1000 + kind, md5('aside' || of_item)::uuid::text, substr(md5('aside' || of_item), 1, 20), NULL, issued_at + interval '40 seconds',
  CASE kind WHEN 20 THEN 'refund' ELSE 'topup' END, 'paid', amount_usd, NULL, email, phone, handle, receiver, reference
FROM planted_theirs WHERE kind IN (20, 21);

-- Transactions just before and just after the period without calls of ours, which belong to other periods.
INSERT INTO planted_theirs (upstream_ref, upstream_id, issued_at, type, status, amount_usd, email)
SELECT md5('outside' || s)::uuid::text, substr(md5('outside' || s), 1, 20),
  CASE WHEN s = 0 THEN current_setting('planted.from')::timestamptz - interval '1 millisecond' ELSE current_setting('planted.to')::timestamptz END,
  'credit', 'paid', 3, 'outside@example.net'
FROM generate_series(0, 1) AS s;

CREATE TEMP TABLE planted_expected AS
SELECT category, 'call/' || id || '/' || position AS subject, impact::numeric
FROM planted_item CROSS JOIN LATERAL (VALUES
  (0, 'missing_upstream', -usd - fee),
  (1, 'amount_over', 1.25),
  (2, 'amount_under', -0.75),
  (3, 'reversal', -usd - fee), (4, 'status', -usd - fee),
  (5, 'recipient', 0),
  (6, 'late', 0),
  (7, 'fee', 0.5),
  (8, 'unrecognised_status', 0),
  (15, 'amount_over', 1.25), (15, 'late', 0),
  (16, 'amount_under', -0.75), (16, 'fee', 0.5), (16, 'recipient', 0),
  (17, 'reversal', -usd - fee), (17, 'amount_over', 0),
  (18, 'unrecognised_status', 0), (18, 'late', 0)
) AS planted(on_kind, category, impact)
WHERE on_kind = kind
UNION ALL
SELECT 'status', 'call/' || id || '/' || position, usd + fee FROM planted_item WHERE fate LIKE '%but paid'
UNION ALL
SELECT category, CASE WHEN upstream_ref IS NOT NULL THEN 'upstream_ref/' || upstream_ref || CASE WHEN kind = 1009 THEN '#2' ELSE '' END
    WHEN upstream_id IS NOT NULL THEN 'upstream_id/' || upstream_id ELSE 'listing/' || batch_ref || '/1' END,
  CASE WHEN kind = 1014 OR category = 'unrecognised_status' THEN 0 WHEN category = 'refund' THEN -amount_usd ELSE amount_usd + coalesce(fee_usd, 0) END
FROM planted_theirs CROSS JOIN LATERAL (VALUES
  (1009, 'duplicate_upstream'), (1010, 'duplicate_upstream'),
  (1011, 'missing_local'), (1012, 'missing_local'), (1013, 'missing_local'), (1014, 'missing_local'), (1019, 'missing_local'), (1019, 'unrecognised_status'), (1020, 'refund')
) AS planted(on_kind, category)
-- The next run reports those after the period.
WHERE on_kind = kind AND coalesce(issued_at < current_setting('planted.to')::timestamptz, TRUE);
