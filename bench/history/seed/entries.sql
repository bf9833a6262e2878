-- The search index of these calls, as reindex_calls makes it; its indexes are built, and what else belongs to it is written, once
-- all calls are made.
WITH entries AS (
  INSERT INTO search_entry SELECT * FROM call_entry WHERE call_id = ANY (ARRAY(SELECT id FROM seed_call)) RETURNING call_id, item_usd
)
INSERT INTO search_item SELECT DISTINCT coalesce(usd, -1), call_id FROM entries CROSS JOIN LATERAL unnest(item_usd) AS usd;
