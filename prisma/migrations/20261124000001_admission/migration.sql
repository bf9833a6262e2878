-- Almost every requested call meets nothing: no call with its key, none with its content, no stop, no cap. Then there
-- is nothing to decide, and one statement that begins with this function opens it. If anything may be in the way, the
-- function returns false and decides nothing. src/policy then decides about the state that src/journal/state.ts reads.

-- Locks the clients until the commit, and says whether nothing stands against any of these calls. VOLATILE, and a statement of
-- its own after the lock: what it reads is what holds once the lock is had, as READ COMMITTED sees it, and it says no where
-- that is not how the transaction sees. Without sequential scans, as its plans may be older than what is in the tables.
-- clients, usd: each client once, and what its calls may count on its caps together; null: nothing does.
-- on_day: on whose cap (UTC) they would count.
-- client_of, operations, keys, contents: of each call; the content (SHA-256) only where its like is looked for, down to since.
CREATE FUNCTION nothing_against(clients uuid[], usd numeric[], on_day date, client_of uuid[], operations text[], keys text[],
  contents bytea[], since uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
DECLARE
  clear boolean;
BEGIN
  PERFORM FROM client WHERE id = ANY (clients) ORDER BY id FOR NO KEY UPDATE;
  SELECT current_setting('transaction_isolation') = 'read committed'
    AND on_day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    AND NOT EXISTS (SELECT FROM stop WHERE NOT EXISTS (SELECT FROM stop_lift l WHERE l.stop_id = stop.id))
    AND NOT EXISTS (
      SELECT FROM unnest(client_of, operations, keys, contents) AS a(client_id, operation, key, content)
      WHERE EXISTS (SELECT FROM idempotency_claim c
          WHERE c.client_id = a.client_id AND c.operation = a.operation AND c.key = a.key OFFSET 0)
        OR EXISTS (SELECT FROM recent_content r
          WHERE r.client_id = a.client_id AND r.operation = a.operation AND r.content = a.content AND r.intent_id >= since OFFSET 0))
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
