-- Three wallets of the upstream with a hundred entries each, newest first, one a minute at the end of the
-- period. The first loses money between two entries, the second within one, and the third at the end.
-- Everything else adds up, except for the noise of floats. In each, ten debits and ten credits have amounts
-- that no transaction explains. The other credits are top-ups.

CREATE TEMP TABLE planted_entry AS
SELECT w AS wallet, 'planted-wallet-' || w AS wallet_id, 99 - n AS ordinal, current_setting('planted.to')::timestamptz - make_interval(mins => 100 - n) AS at,
  amount, CASE WHEN amount > 0 AND n % 10 <> 7 THEN 'top-up' ELSE 'planted' END AS description, begins - lost AS balance_before,
  begins + amount - lost - CASE WHEN w = 2 AND n = 70 THEN 3 ELSE 0 END + CASE WHEN w = 3 THEN 0.0000000004 ELSE 0 END AS new_balance
FROM (
  SELECT w, n, amount, 100000 + coalesce(sum(amount) OVER (PARTITION BY w ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS begins,
    CASE WHEN w = 1 AND n >= 40 THEN 12.5 WHEN w = 2 AND n > 70 THEN 3 ELSE 0 END AS lost
  FROM (
    SELECT w, n, CASE WHEN n % 10 = 9 THEN 25 WHEN n % 10 = 4 THEN -0.37 * (n % 7 + 1) - 0.000007 ELSE 3.37 * (n % 7 + 1) + 0.000003 END AS amount
    FROM generate_series(1, 3) AS w, generate_series(0, 99) AS n
  ) AS moves
) AS balances;

CREATE TEMP TABLE planted_wallet AS
SELECT wallet_id, (ARRAY['chi', 'momo', 'airtime'])[wallet] AS type, new_balance + CASE WHEN wallet = 3 THEN 5 ELSE 0 END AS balance
FROM planted_entry WHERE ordinal = 0;

INSERT INTO planted_expected
SELECT 'balance_gap', 'wallet/' || wallet_id || '/' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 0
FROM planted_entry WHERE (wallet, 99 - ordinal) IN ((1, 40), (2, 70), (3, 99));

INSERT INTO planted_expected
SELECT 'unexplained_debit', 'wallet/' || wallet_id || '/' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 0
FROM planted_entry WHERE amount < 0;

INSERT INTO planted_expected
SELECT 'unexplained_credit', 'wallet/' || wallet_id || '/' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 0
FROM planted_entry WHERE amount > 0 AND description <> 'top-up';

-- A fourth wallet has the debits of the last batches: one for each batch, or one for each transaction, with
-- the fees or separate from them.
CREATE TEMP TABLE planted_debit AS
WITH batch AS (
  SELECT batch_ref, min(issued_at) AS at, sum(amount_usd) AS usd, sum(coalesce(fee_usd, 0)) AS fee,
    row_number() OVER (ORDER BY min(issued_at) DESC, batch_ref) AS nth
  FROM planted_theirs WHERE batch_ref LIKE 'issuer\_%' GROUP BY batch_ref
  HAVING bool_and((kind IS NULL OR kind BETWEEN 50 AND 999) AND status = 'paid' AND type <> 'payment')
    AND min(issued_at) >= current_setting('planted.from')::timestamptz AND max(issued_at) < current_setting('planted.to')::timestamptz - interval '1 minute'
), chosen AS (
  SELECT *, nth % 4 AS booked FROM batch WHERE nth <= 60
)
SELECT at, batch_ref AS name, booked, unnest(CASE WHEN booked = 0 THEN ARRAY[usd + fee] ELSE ARRAY[usd, fee] END) AS usd FROM chosen WHERE booked IN (0, 1)
UNION ALL
SELECT t.issued_at, t.upstream_id, c.booked, unnest(CASE WHEN c.booked = 2 THEN ARRAY[t.amount_usd + coalesce(t.fee_usd, 0)] ELSE ARRAY[t.amount_usd, coalesce(t.fee_usd, 0)] END)
FROM planted_theirs t JOIN chosen c USING (batch_ref) WHERE c.booked IN (2, 3);
DELETE FROM planted_debit WHERE usd = 0;

INSERT INTO planted_entry
SELECT 4, 'planted-wallet-4', row_number() OVER (ORDER BY at DESC, name DESC, usd DESC) - 1, at + interval '1 second', -usd, 'planted', 500000 - before, 500000 - before - usd
FROM (
  SELECT *, coalesce(sum(usd) OVER (ORDER BY at, name, usd ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM planted_debit
) AS debits;

INSERT INTO planted_wallet SELECT wallet_id, 'chi', new_balance FROM planted_entry WHERE wallet = 4 AND ordinal = 0;
