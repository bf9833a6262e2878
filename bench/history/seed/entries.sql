-- Writes the index entries of these calls, as reindex_calls does. Indexes and derived tables follow after all
-- calls.
SELECT insert_entries(ARRAY(SELECT id FROM seed_call ORDER BY id), NULL);
