-- The search index of these calls, as reindex_calls makes it; its indexes are built, and what else belongs to it is written, once
-- all calls are made.
INSERT INTO search_entry SELECT * FROM call_entry WHERE call_id = ANY (ARRAY(SELECT id FROM seed_call));
