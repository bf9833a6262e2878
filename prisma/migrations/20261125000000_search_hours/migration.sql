-- Searches by hours. A page reads everything in a slice of time, and of ten million calls, even a day has too many.
-- Hours replace days, so no entry has more terms than before. The index is rebuilt, which takes some minutes for each
-- million calls. The proxy starts when it is done.

CREATE FUNCTION search_hour(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 3600000)::integer
$$;

-- As before, with the hour.
CREATE OR REPLACE VIEW call_entry AS
  SELECT c.call_id, coalesce(p.position, -1) AS position, coalesce(p.leads, TRUE) AS leads, c.client_id, c.operation, p.country,
    c.state, c.process, c.released_at, c.expires_at, c.repeats, p.amount_usd::numeric AS item_usd, c.total_usd, c.upstream_ms,
    array_remove(
      ARRAY[
        'week:' || search_week(c.call_id),
        'hour:' || search_hour(c.call_id),
        'total:' || search_step(c.total_usd),
        CASE WHEN p.position >= 0 THEN 'item:' || search_step(p.amount_usd) END,
        'client:' || c.client_id,
        'key:' || c.key_id,
        CASE WHEN length(c.actor) > 300 THEN search_term('actor', c.actor) ELSE 'actor:' || nullif(c.actor, '') END,
        CASE WHEN length(c.operation) > 300 THEN search_term('operation', c.operation) ELSE 'operation:' || nullif(c.operation, '') END,
        'state:' || c.state,
        'approval:' || c.approval,
        CASE WHEN length(c.idempotency_key) > 300 THEN search_term('idempotency', c.idempotency_key) ELSE 'idempotency:' || nullif(c.idempotency_key, '') END,
        CASE WHEN length(c.request_id) > 300 THEN search_term('request', c.request_id) ELSE 'request:' || nullif(c.request_id, '') END,
        CASE WHEN length(c.client_address) > 300 THEN search_term('address', c.client_address) ELSE 'address:' || nullif(c.client_address, '') END,
        CASE WHEN length(p.country) > 300 THEN search_term('country', p.country) ELSE 'country:' || nullif(p.country, '') END,
        CASE WHEN length(p.network_code) > 300 THEN search_term('network', p.network_code) ELSE 'network:' || nullif(p.network_code, '') END,
        CASE WHEN length(p.reference) > 300 THEN search_term('reference', p.reference) ELSE 'reference:' || nullif(p.reference, '') END,
        CASE WHEN length(p.upstream_ref) > 300 THEN search_term('ref', p.upstream_ref) ELSE 'ref:' || nullif(p.upstream_ref, '') END,
        CASE WHEN length(n.email) > 300 THEN search_term('to', n.email) ELSE 'to:' || nullif(n.email, '') END,
        CASE WHEN length(n.phone) > 300 THEN search_term('to', n.phone) ELSE 'to:' || nullif(n.phone, '') END,
        CASE WHEN length(n.handle) > 300 THEN search_term('to', n.handle) ELSE 'to:' || nullif(n.handle, '') END,
        CASE WHEN length(p.receiver) > 300 THEN search_term('receiver', p.receiver) ELSE 'receiver:' || nullif(p.receiver, '') END,
        CASE WHEN length(n.email) >= 3 THEN 'begins:' || left(n.email, 3) END,
        CASE WHEN length(n.email) >= 5 THEN 'begins:' || left(n.email, 5) END,
        CASE WHEN length(n.email) >= 7 THEN 'begins:' || left(n.email, 7) END,
        CASE WHEN length(n.email) >= 10 THEN 'begins:' || left(n.email, 10) END,
        CASE WHEN length(n.phone) >= 3 THEN 'begins:' || left(n.phone, 3) END,
        CASE WHEN length(n.phone) >= 5 THEN 'begins:' || left(n.phone, 5) END,
        CASE WHEN length(n.phone) >= 7 THEN 'begins:' || left(n.phone, 7) END,
        CASE WHEN length(n.phone) >= 10 THEN 'begins:' || left(n.phone, 10) END,
        CASE WHEN length(n.handle) >= 3 THEN 'begins:' || left(n.handle, 3) END,
        CASE WHEN length(n.handle) >= 5 THEN 'begins:' || left(n.handle, 5) END,
        CASE WHEN length(n.handle) >= 7 THEN 'begins:' || left(n.handle, 7) END,
        CASE WHEN length(n.handle) >= 10 THEN 'begins:' || left(n.handle, 10) END,
        CASE WHEN length(lower(p.receiver)) >= 3 THEN 'begins:' || left(lower(p.receiver), 3) END,
        CASE WHEN length(lower(p.receiver)) >= 5 THEN 'begins:' || left(lower(p.receiver), 5) END,
        CASE WHEN length(lower(p.receiver)) >= 7 THEN 'begins:' || left(lower(p.receiver), 7) END,
        CASE WHEN length(lower(p.receiver)) >= 10 THEN 'begins:' || left(lower(p.receiver), 10) END
      ] || p.terms, NULL) AS terms
  FROM call_state c
  LEFT JOIN LATERAL (
    -- A FULL JOIN is hashed or merged and never looped, because calls have hundreds of payouts, and their answers as
    -- many transactions.
    SELECT coalesce(i.position, -1) AS position, coalesce(i.position, -1) = coalesce(min(i.position) OVER (), -1) AS leads,
      i.country, i.network_code, i.reference, i.receiver, i.upstream_ref, i.amount_usd, u.terms
    FROM (SELECT * FROM intent_item WHERE intent_id = c.call_id) AS i
    FULL JOIN (
      SELECT coalesce(o.position, -1) AS position, array_agg(CASE WHEN length(v.ref) > 300 THEN search_term('ref', v.ref) ELSE 'ref:' || nullif(v.ref, '') END) AS terms
      FROM outcome_item o CROSS JOIN LATERAL (VALUES (o.upstream_ref), (o.upstream_id), (o.batch_ref)) AS v(ref)
      WHERE o.intent_id = c.call_id GROUP BY 1
    ) AS u ON u.position = i.position
    WHERE i.position IS NOT NULL OR u.position = -1
  ) AS p ON TRUE
  LEFT JOIN LATERAL (
    SELECT lower(r.email) AS email, lower(r.phone) AS phone, lower(r.handle) AS handle
    FROM item_recipient r WHERE r.intent_id = c.call_id AND r.position = p.position OFFSET 0
  ) AS n ON TRUE;

SELECT rebuild_search_index();
