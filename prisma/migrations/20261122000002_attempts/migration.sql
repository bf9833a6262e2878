-- How each attempt to send a request went, in their order: [{"failure","ms","phase","started_at","status"}]. Canonical JSON
-- (RFC 8785) of text, integers and null, kept as it was written (json, not jsonb): the seal covers it as it stands.
--   failure     a short code; null: a whole response came
--   ms          how long it took by a monotonic clock, decimal text
--   phase       how far it came: queued, connecting, waiting, answering, answered (src/gateway/upstream/undici-adapter.ts)
--   started_at  ISO 8601, UTC
--   status      of the response, if one came whole
-- Empty: from before they were kept, or of a call whose answer another one fetched. A column, not a table: one more row for
-- each call would cost the request path more than all that is in it.
ALTER TABLE outcome ADD COLUMN tries json NOT NULL DEFAULT '[]';
