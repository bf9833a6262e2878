-- Three wallets of the upstream with a hundred entries each, newest first, one a minute at the end of the period. The first loses
-- money between two entries, the second within one, the third at last; all else joins, but for the noise of floats.

CREATE TEMP TABLE planted_entry AS
SELECT w AS wallet, 'planted-wallet-' || w AS wallet_id, 99 - n AS ordinal, current_setting('planted.to')::timestamptz - make_interval(mins => 100 - n) AS at,
  amount, begins - lost AS balance_before,
  begins + amount - lost - CASE WHEN w = 2 AND n = 70 THEN 3 ELSE 0 END + CASE WHEN w = 3 THEN 0.0000000004 ELSE 0 END AS new_balance
FROM (
  SELECT w, n, amount, 100000 + coalesce(sum(amount) OVER (PARTITION BY w ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS begins,
    CASE WHEN w = 1 AND n >= 40 THEN 12.5 WHEN w = 2 AND n > 70 THEN 3 ELSE 0 END AS lost
  FROM (SELECT w, n, CASE WHEN n % 10 = 9 THEN 25 ELSE -0.37 * (n % 7 + 1) END AS amount FROM generate_series(1, 3) AS w, generate_series(0, 99) AS n) AS moves
) AS balances;

CREATE TEMP TABLE planted_wallet AS
SELECT wallet_id, (ARRAY['chi', 'momo', 'airtime'])[wallet] AS type, new_balance + CASE WHEN wallet = 3 THEN 5 ELSE 0 END AS balance
FROM planted_entry WHERE ordinal = 0;

INSERT INTO planted_expected
SELECT 'balance_gap', 'wallet/' || wallet_id || '/' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 0
FROM planted_entry WHERE (wallet, 99 - ordinal) IN ((1, 40), (2, 70), (3, 99));
