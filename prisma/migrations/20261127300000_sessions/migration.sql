-- People who sign in at the company's OpenID provider.

INSERT INTO migration_compatibility VALUES ('20261127300000_sessions', '20261124000000_init');

-- The key of a person who signs in at the provider. Nobody knows a secret of it. Sessions and records name it like any other key, and
-- revoking it ends the sessions at once.
ALTER TABLE api_key
  DROP CONSTRAINT api_key_kind_check,
  ADD CONSTRAINT api_key_kind_check CHECK (kind IN ('secret', 'provider', 'sign_in')),
  ADD COLUMN issuer text, -- the provider
  ADD COLUMN subject text, -- the person's `sub` there
  ADD CONSTRAINT api_key_sign_in CHECK (
    (kind = 'sign_in') = (issuer IS NOT NULL) AND (kind = 'sign_in') = (subject IS NOT NULL)
    AND (kind <> 'sign_in' OR person IS NOT NULL));

-- A sign-in leads to one key.
CREATE UNIQUE INDEX api_key_subject ON api_key (issuer, subject) WHERE kind = 'sign_in' AND revoked_at IS NULL;

-- How the person of a session signed in; null: with a key.
ALTER TABLE console_session
  ADD COLUMN signed_in_at timestamptz, -- when the provider last asked for a proof (auth_time); null: it does not say
  ADD COLUMN acr text, -- how strong the proof was, in the provider's words
  ADD COLUMN sid text, -- the session at the provider, which may end it
  ADD COLUMN id_token bytea; -- for signing out there, encrypted with the cookie's secret
CREATE INDEX console_session_key ON console_session (key_id);
