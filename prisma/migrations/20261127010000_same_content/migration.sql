-- The same content is not sent again while a call with it is open. A list is not sent again within a day, whatever its
-- key. A call that the app sends anyway, with the header Allow-Duplicate-Of, records which call it repeats.

ALTER TABLE intent ADD COLUMN duplicate_of uuid; -- null: it repeats none, or the app did not say so

-- number: the order in which calls of a client were admitted. Ids do not tell it, for each instance has a clock of its own.
-- lasting: it is noticed for a day after its answer: it has two items or more, or repeats another call on purpose. All are
-- kept for as long as their calls are open.
ALTER TABLE recent_content
  ADD COLUMN number  bigint GENERATED ALWAYS AS IDENTITY,
  ADD COLUMN lasting boolean NOT NULL DEFAULT false;
CREATE INDEX recent_content_brief ON recent_content (intent_id) WHERE NOT lasting;

CREATE OR REPLACE VIEW audit.calls AS
  SELECT id, client_id, key_id, operation, audit.mask_contacts(request_id) AS request_id, traceparent, client_address,
    audit.mask_query(query) AS query, item_count, total_usd, coverage, caused_by,
    audit.mask_contacts(idempotency_key) AS idempotency_key, audit.mask_contacts(actor) AS actor, held_for, expires_at,
    reserved_on, process, body_commitment, received_at, recorded_at, duplicate_of
  FROM public.intent;

-- As before, but for the contents: any call on record with the same content is looked at by src/policy, however old it is and
-- whether or not the new one has a key. contents: of each call, SHA-256; null where its like is not looked for.
DROP FUNCTION nothing_against(uuid[], numeric[], date, uuid[], text[], text[], bytea[], uuid);

CREATE FUNCTION nothing_against(clients uuid[], usd numeric[], on_day date, client_of uuid[], operations text[], keys text[],
  contents bytea[]) RETURNS boolean LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
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
          WHERE r.client_id = a.client_id AND r.operation = a.operation AND r.content = a.content OFFSET 0))
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
