-- Writes the index entries of these calls, as reindex_calls does. Indexes and derived tables follow after all
-- calls.
WITH entries AS (
  INSERT INTO search_entry SELECT * FROM call_entry WHERE call_id = ANY (ARRAY(SELECT id FROM seed_call)) RETURNING call_id, item_usd
)
INSERT INTO search_item SELECT DISTINCT coalesce(usd, -1), call_id FROM entries CROSS JOIN LATERAL unnest(item_usd) AS usd;
