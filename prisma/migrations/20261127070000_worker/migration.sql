-- What the proxies want from the workers now. It is no record: a row goes when its work is done. A row that nobody is told of
-- is found a little later, and one whose worker is killed is done by the next.
CREATE TABLE worker_task (
  id       uuid PRIMARY KEY, -- of the event that is to be read back, or of the round
  kind     text NOT NULL CHECK (kind IN ('read_back', 'round')),
  result   json, -- of a round; null until it has one
  asked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT, INSERT, UPDATE, DELETE ON worker_task TO payout_proxy;
