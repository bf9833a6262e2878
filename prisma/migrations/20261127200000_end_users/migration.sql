-- End users: the people on whose behalf apps call, their limits, and credentials that are made for a phone or a page.

INSERT INTO migration_compatibility VALUES ('20261127200000_end_users', '20261124000000_init');

ALTER TABLE client
  -- A server has secret keys. A public client, such as a mobile app, has none: only ephemeral keys and access tokens.
  ADD COLUMN kind text NOT NULL DEFAULT 'server' CHECK (kind IN ('server', 'public')),
  -- The limits of each person; null: none. A person may have limits of their own instead (person)
  ADD COLUMN person_daily_cap_usd numeric(20,6) CHECK (person_daily_cap_usd >= 0),
  ADD COLUMN person_monthly_cap_usd numeric(20,6) CHECK (person_monthly_cap_usd >= 0),
  ADD COLUMN person_max_item_usd numeric(20,6) CHECK (person_max_item_usd > 0),
  ADD COLUMN person_requests_per_minute integer CHECK (person_requests_per_minute > 0),
  -- Whose access tokens the client takes (RFC 9068); null: nobody's
  ADD COLUMN token_issuer text,
  ADD COLUMN token_audience text,
  ADD COLUMN token_jwks_uri text,
  ADD COLUMN token_algorithms text[] NOT NULL DEFAULT '{}',
  ADD COLUMN token_client_id text, -- the client at the provider
  ADD COLUMN token_dpop boolean NOT NULL DEFAULT FALSE, -- whether tokens must be bound to a key of the app (RFC 9449)
  ADD CONSTRAINT client_token_source CHECK (
    (token_issuer IS NULL) = (token_audience IS NULL) AND (token_issuer IS NULL) = (token_jwks_uri IS NULL)
    AND (token_issuer IS NULL) = (token_client_id IS NULL) AND (token_issuer IS NULL) = (cardinality(token_algorithms) = 0)),
  ADD CONSTRAINT client_token_client UNIQUE (token_issuer, token_client_id);

-- A secret key has a secret that its holder knows. A provider's key has none: it stands for the tokens of the client's provider, so
-- records name it, and revoking it ends them.
ALTER TABLE api_key ADD COLUMN kind text NOT NULL DEFAULT 'secret' CHECK (kind IN ('secret', 'provider'));

-- The people behind the calls of a client. This is work, not a record: records hold the ID and a commitment, SHA-256(salt || name).
CREATE TABLE person (
  id                  uuid PRIMARY KEY, -- UUIDv7
  client_id           uuid NOT NULL REFERENCES client (id),
  sha256              bytea NOT NULL UNIQUE, -- of the client, the issuer and the name (src/access/people/persons.service.ts)
  issuer              text, -- of the tokens; null: the client names the person
  name                text, -- the subject, or the name that the client uses; null: erased
  salt                bytea, -- a new one each time a name is set
  first_seen_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Limits instead of the client's; null: the client's
  daily_cap_usd       numeric(20,6) CHECK (daily_cap_usd >= 0),
  monthly_cap_usd     numeric(20,6) CHECK (monthly_cap_usd >= 0),
  max_item_usd        numeric(20,6) CHECK (max_item_usd > 0),
  requests_per_minute integer CHECK (requests_per_minute > 0),
  revoked_at          timestamptz, -- tokens and ephemeral keys from before are refused
  CHECK ((name IS NULL) = (salt IS NULL))
);
CREATE INDEX person_client ON person (client_id, id);

-- Keys for one person and some minutes, made by the client's server for a phone or a page.
CREATE TABLE ephemeral_key (
  id            uuid PRIMARY KEY, -- UUIDv7
  key_id        uuid NOT NULL REFERENCES api_key (id), -- the key that made it, and without which it is not valid
  person_id     uuid NOT NULL REFERENCES person (id),
  sha256        bytea NOT NULL UNIQUE,
  hint          text NOT NULL,
  operations    text[] NOT NULL,
  countries     text[] NOT NULL, -- empty: those of the client
  recipients    bytea[], -- SHA-256 as in beneficiary; null: any
  max_item_usd  numeric(20,6) NOT NULL CHECK (max_item_usd > 0),
  max_total_usd numeric(20,6) NOT NULL CHECK (max_total_usd > 0),
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz NOT NULL,
  revoked_at    timestamptz,
  CHECK (expires_at > created_at AND expires_at <= created_at + interval '15 minutes')
);
CREATE INDEX ephemeral_key_person ON ephemeral_key (person_id, id);

-- What a person has spent and reserved on a day (UTC), or what was spent with an ephemeral key. As in spending, it never exceeds a cap
-- that applied at the time. A new day or month has no rows, so no job resets anything.
CREATE TABLE payer_spending (
  payer_id uuid NOT NULL,
  day      date NOT NULL,
  usd      numeric(20,6) NOT NULL CHECK (usd >= 0),
  PRIMARY KEY (payer_id, day)
);

-- The caps of persons and of ephemeral keys.
CREATE VIEW payer_cap AS
  SELECT p.id AS payer_id, 'person' AS kind, coalesce(p.daily_cap_usd, c.person_daily_cap_usd) AS daily_cap_usd,
    coalesce(p.monthly_cap_usd, c.person_monthly_cap_usd) AS monthly_cap_usd, NULL::numeric AS total_cap_usd
  FROM person p JOIN client c ON c.id = p.client_id
  UNION ALL
  SELECT id, 'ephemeral_key', NULL, NULL, max_total_usd FROM ephemeral_key;

-- The person of a request, and the ephemeral key that it came with. Records of calls have them in their documents, too.
ALTER TABLE intent ADD COLUMN person_id uuid, ADD COLUMN ephemeral_key_id uuid;
ALTER TABLE refusal
  ADD COLUMN person_id uuid, -- records of programs before this migration have the name itself (actor)
  ADD COLUMN actor_commitment bytea CHECK (octet_length(actor_commitment) = 32),
  ADD COLUMN actor_source text CHECK (actor_source IN ('token', 'ephemeral', 'key', 'claimed')),
  ADD COLUMN ephemeral_key_id uuid;

GRANT SELECT, INSERT, UPDATE ON person, ephemeral_key, payer_spending TO payout_proxy;
GRANT SELECT ON payer_cap TO payout_proxy;

-- Returns what a payer has spent on a day, in its month, and since the month before. An ephemeral key lives for minutes, so that is all.
CREATE FUNCTION payer_spent(payer uuid, on_day date, OUT today_usd numeric, OUT month_usd numeric, OUT total_usd numeric)
  LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0),
    coalesce(sum(s.usd) FILTER (WHERE s.day >= date_trunc('month', on_day::timestamp)::date), 0), coalesce(sum(s.usd), 0)
  FROM payer_spending s
  WHERE s.payer_id = payer AND s.day >= (date_trunc('month', on_day::timestamp) - interval '1 month')::date
$$;

-- Returns whether payers stay within their caps. Call it after nothing_against has locked their clients. Like that function, it is
-- VOLATILE, so that it sees everything that was committed until then.
--   payers, usd   each payer once, and what its calls would add
CREATE FUNCTION payers_within_caps(payers uuid[], usd numeric[], on_day date) RETURNS boolean LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM unnest(payers, usd) AS a(payer_id, usd) JOIN payer_cap c ON c.payer_id = a.payer_id
    CROSS JOIN LATERAL payer_spent(a.payer_id, on_day) AS spent
    WHERE spent.today_usd + a.usd > c.daily_cap_usd OR spent.month_usd + a.usd > c.monthly_cap_usd
      OR spent.total_usd + a.usd > c.total_cap_usd);
END
$$;

-- Changes what calls count on the caps of their clients and payers, as before. The rows of clients are locked first, as in admission.
CREATE OR REPLACE FUNCTION adjust_spending(calls uuid[], counted_before numeric[], counted_after numeric[]) RETURNS void LANGUAGE sql AS $$
  WITH changed AS MATERIALIZED (
    SELECT i.client_id, i.person_id, i.ephemeral_key_id, coalesce(i.reserved_on, d.reserved_on) AS day,
      c.counted_after - coalesce(c.counted_before, i.total_usd + coalesce(i.expected_fee_usd, 0)) AS usd
    FROM unnest(calls, counted_before, counted_after) AS c(id, counted_before, counted_after)
    JOIN intent i ON i.id = c.id LEFT JOIN decision d ON d.intent_id = i.id
    WHERE coalesce(i.reserved_on, d.reserved_on) IS NOT NULL
  ), locked AS MATERIALIZED (
    SELECT s.client_id, s.day, c.usd FROM spending s JOIN (
      SELECT client_id, day, sum(usd) AS usd FROM changed GROUP BY 1, 2) AS c USING (client_id, day)
    WHERE c.usd <> 0 ORDER BY s.client_id, s.day FOR UPDATE OF s
  ), adjusted AS (
    UPDATE spending s SET usd = s.usd + l.usd FROM locked l WHERE s.client_id = l.client_id AND s.day = l.day
  ), locked_payers AS (
    SELECT s.payer_id, s.day, c.usd FROM payer_spending s JOIN (
      SELECT payer_id, day, sum(usd) AS usd FROM changed, unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
      WHERE payer_id IS NOT NULL GROUP BY 1, 2) AS c USING (payer_id, day)
    WHERE c.usd <> 0 AND (SELECT count(*) FROM locked) >= 0 ORDER BY s.payer_id, s.day FOR UPDATE OF s
  )
  UPDATE payer_spending s SET usd = s.usd + l.usd FROM locked_payers l WHERE s.payer_id = l.payer_id AND s.day = l.day
$$;
