-- The structures of the upstream's answers, without any value. A record like the others: rows are only added. There are
-- about a hundred of each operation, so one table holds all of them, however old they are.

CREATE TABLE answer_shape (
  id            uuid PRIMARY KEY, -- UUIDv7, of its own
  operation     text NOT NULL, -- the operation's name in the interface
  http_status   smallint NOT NULL,
  fingerprint   bytea NOT NULL CHECK (octet_length(fingerprint) = 32), -- SHA-256 of the shape's JSON with sorted keys
  shape         jsonb NOT NULL, -- a JSON Schema
  first_call_id uuid NOT NULL,
  first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (operation, http_status, fingerprint) -- several instances may see a shape at once, and it is new once
);

CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON answer_shape FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON answer_shape EXECUTE FUNCTION refuse_change();

GRANT SELECT, INSERT ON answer_shape TO payout_proxy;
