-- Fencing: what tells a database, a process or a clock that has come back from the past.

-- The instances, each with the number of its durable writes (src/platform/database/heartbeat.service.ts). A row is written every
-- second. An instance that finds a smaller number than it has seen knows that commits were lost. This is work, not a record.
CREATE TABLE instance (
  id      uuid PRIMARY KEY, -- random, of one process or of one DATA_DIR
  beat    bigint NOT NULL CHECK (beat > 0),
  beat_at timestamptz NOT NULL -- by the database's clock
) WITH (fillfactor = 50); -- leaves room for updates within the page

GRANT SELECT, INSERT, UPDATE ON instance TO payout_proxy;
