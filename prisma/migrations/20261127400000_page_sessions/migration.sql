-- Sessions of people on the pages of clients. The browser holds a cookie, and the proxy everything else.

INSERT INTO migration_compatibility VALUES ('20261127400000_page_sessions', '20261124000000_init');

-- The provider at which people sign in to the pages of a client; null: nowhere. Unlike the provider of its access tokens, it is asked
-- by the proxy itself.
ALTER TABLE client
  ADD COLUMN page_issuer text,
  ADD COLUMN page_client_id text, -- the client at the provider
  ADD CONSTRAINT client_page_source CHECK ((page_issuer IS NULL) = (page_client_id IS NULL)),
  ADD CONSTRAINT client_page_client UNIQUE (page_issuer, page_client_id);

-- A page key has no secret. It stands for the page sessions of its client, so records name it, and revoking it ends them.
ALTER TABLE api_key
  DROP CONSTRAINT api_key_kind_check,
  ADD CONSTRAINT api_key_kind_check CHECK (kind IN ('secret', 'provider', 'sign_in', 'page'));

-- A client has one such key at a time.
CREATE UNIQUE INDEX api_key_page ON api_key (client_id) WHERE kind = 'page' AND revoked_at IS NULL;

CREATE TABLE page_session (
  id           uuid PRIMARY KEY, -- UUIDv7; records name it
  key_id       uuid NOT NULL REFERENCES api_key (id), -- the page key, without which it is not valid
  person_id    uuid NOT NULL REFERENCES person (id),
  sha256       bytea NOT NULL UNIQUE, -- of the secret in the cookie
  origin       text NOT NULL, -- of the page that the sign-in led to, without which it is not valid
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  used_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  signed_in_at timestamptz, -- when the provider last asked for a proof (auth_time); null: it does not say
  acr          text, -- how strong the proof was, in the provider's words
  sid          text, -- the session at the provider, which may end it
  id_token     bytea NOT NULL -- for signing out there, encrypted with the cookie's secret
);
CREATE INDEX page_session_key ON page_session (key_id, sid);
CREATE INDEX page_session_person ON page_session (person_id);
CREATE INDEX page_session_used ON page_session (used_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON page_session TO payout_proxy;

-- credential: the token or the session of the request, as in the record of a call; null: it came with a key.
-- session: the person signed in to a page.
ALTER TABLE refusal
  ADD COLUMN credential jsonb,
  DROP CONSTRAINT refusal_actor_source_check,
  ADD CONSTRAINT refusal_actor_source_check CHECK (actor_source IN ('token', 'ephemeral', 'session', 'key', 'claimed'));

-- claimKey of src/journal/records/records.ts.
CREATE OR REPLACE FUNCTION scoped_key(person_id uuid, record text, key text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN strpos(record, '"actor_source":"token"') > 0 OR strpos(record, '"actor_source":"ephemeral"') > 0
    OR strpos(record, '"actor_source":"session"') > 0 THEN person_id::text || ' ' || key ELSE key END
$$;
