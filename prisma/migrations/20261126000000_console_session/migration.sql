-- The console sessions, by the SHA-256 of the cookie's secret. If a crash loses them, people sign in again.
CREATE UNLOGGED TABLE console_session (
  sha256     bytea PRIMARY KEY CHECK (length(sha256) = 32),
  key_id     uuid NOT NULL REFERENCES api_key (id),
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at    timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT, UPDATE, DELETE ON console_session TO payout_proxy;
