-- One row for each human, as one scope knows them, and the identities that lead to it. Rules compare IDs.

INSERT INTO migration_compatibility VALUES ('20261129062000_people', '20261124000000_init');

-- A person of a client is known in its scope, and has limits there. A member of staff, who owns keys or signs in to the console, is
-- known in the whole installation. Only people of clients have names here, because those of staff are in api_key.
ALTER TABLE person
  ALTER COLUMN client_id DROP NOT NULL, -- null: staff
  ADD COLUMN same_as uuid REFERENCES person (id), -- the person that two others say this one is, and who is not merged; null: not merged
  ADD CONSTRAINT person_same_as CHECK (same_as <> id);
CREATE INDEX person_same_as ON person (same_as) WHERE same_as IS NOT NULL;

ALTER TABLE api_key ADD COLUMN person_id uuid REFERENCES person (id); -- the owner of a personal key, or who signs in; null: nobody

-- What people are known by, besides their keys (api_key.person_id).
CREATE TABLE person_identity (
  person_id uuid NOT NULL REFERENCES person (id) ON DELETE CASCADE,
  kind      text NOT NULL CHECK (kind IN ('sign_in', 'token_subject', 'name')),
  is_staff  boolean NOT NULL,
  sha256    bytea NOT NULL, -- see identity_sha256
  PRIMARY KEY (person_id, kind, sha256)
);
CREATE UNIQUE INDEX person_identity_of_staff ON person_identity (sha256) WHERE is_staff;
GRANT SELECT, INSERT, DELETE ON person_identity TO payout_proxy;

-- Returns what identities are compared by. Names have no issuer, and no case.
CREATE FUNCTION identity_sha256(issuer text, value text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT sha256(convert_to(coalesce(issuer, '') || E'\n' || CASE WHEN issuer IS NULL THEN lower(value) ELSE value END, 'UTF8'))
$$;

-- Makes two people one human, with all who were merged into the second before. Returns false if they are one already. Lock:
-- LOCKS.people.
CREATE FUNCTION merge_people(kept uuid, merged uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7070033);
  UPDATE person p SET same_as = k.id
  FROM (SELECT coalesce(same_as, id) AS id FROM person WHERE id = kept) AS k,
    (SELECT coalesce(same_as, id) AS id FROM person WHERE id = merged) AS m
  WHERE k.id <> m.id AND coalesce(p.same_as, p.id) = m.id;
  RETURN FOUND;
END
$$;

-- Returns the member of staff with a name, or who signs in as a subject, and adds them at first sight. An administrator who lets the
-- same subject in under two names says that both are one human.
CREATE FUNCTION member_of_staff(their_name text, their_issuer text, their_subject text) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  of_name uuid := (SELECT person_id FROM person_identity WHERE is_staff AND sha256 = identity_sha256(NULL, their_name));
  of_subject uuid := (SELECT person_id FROM person_identity WHERE is_staff AND sha256 = identity_sha256(their_issuer, their_subject));
BEGIN
  IF coalesce(of_name, of_subject) IS NULL THEN
    INSERT INTO person (id, sha256) VALUES (
      encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING
        substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid,
      identity_sha256(NULL, their_name)) ON CONFLICT (sha256) DO NOTHING;
    of_name := (SELECT id FROM person WHERE sha256 = identity_sha256(NULL, their_name));
  END IF;
  INSERT INTO person_identity (person_id, kind, is_staff, sha256)
  SELECT coalesce(of_name, of_subject), 'name', TRUE, identity_sha256(NULL, their_name)
  UNION ALL
  SELECT coalesce(of_subject, of_name), 'sign_in', TRUE, identity_sha256(their_issuer, their_subject) WHERE their_subject IS NOT NULL
  ON CONFLICT DO NOTHING;
  IF of_name <> of_subject THEN
    PERFORM merge_people(of_name, of_subject);
  END IF;
  RETURN coalesce(of_name, of_subject);
END
$$;

-- Identifies the owner of a key. It is a trigger, so that keys from instances of the release before have owners, too.
CREATE FUNCTION identify_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.person_id := member_of_staff(NEW.person, NEW.issuer, NEW.subject);
  RETURN NEW;
END
$$;
CREATE TRIGGER key_has_owner BEFORE INSERT ON api_key
FOR EACH ROW WHEN (NEW.person IS NOT NULL) EXECUTE FUNCTION identify_owner();

UPDATE api_key SET person_id = member_of_staff(person, issuer, subject) WHERE person IS NOT NULL;

-- Adds the identities of a person of a client at first sight, in the statement that adds the person: the name, and for a person whom
-- a provider names, the subject there. A trigger serves every statement that names a person, also of the release before.
CREATE FUNCTION identify_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO person_identity (person_id, kind, is_staff, sha256)
  SELECT NEW.id, 'name', FALSE, identity_sha256(NULL, NEW.name)
  UNION ALL
  SELECT NEW.id, 'token_subject', FALSE, identity_sha256(NEW.issuer, NEW.name) WHERE NEW.issuer IS NOT NULL
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER person_has_identities AFTER INSERT OR UPDATE OF name, issuer ON person
FOR EACH ROW WHEN (NEW.name IS NOT NULL) EXECUTE FUNCTION identify_person();

-- Returns the humans who may be behind something: one ID for each human. A person of a client counts as the member of staff with the
-- same name or subject, because every caller may claim a name. So do the people of clients who were merged with that person.
--   persons, names, keys   people by their IDs, staff by their names, and keys: their owners, and who claimed them
CREATE FUNCTION humans_behind(persons uuid[], names text[], keys uuid[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  WITH given AS MATERIALIZED (
    SELECT unnest(persons) AS id
    UNION
    SELECT person_id FROM api_key WHERE id = ANY (keys)
    UNION
    SELECT person_id FROM person_identity
    WHERE is_staff AND sha256 IN (
      SELECT identity_sha256(NULL, name) FROM unnest(names) AS name
      UNION ALL
      SELECT identity_sha256(NULL, name) FROM api_key k CROSS JOIN unnest(k.claimed_by) AS name WHERE k.id = ANY (keys))
  ), counted AS (
    SELECT id FROM given
    UNION
    SELECT staff.person_id FROM given JOIN person p ON p.id = given.id AND p.client_id IS NOT NULL
    JOIN person alike ON coalesce(p.same_as, p.id) IN (alike.id, alike.same_as)
    JOIN person_identity own ON own.person_id = alike.id AND NOT own.is_staff
    JOIN person_identity staff ON staff.is_staff AND staff.sha256 = own.sha256
  )
  SELECT coalesce(array_agg(DISTINCT coalesce(p.same_as, p.id)), '{}') FROM counted JOIN person p USING (id)
$$;

-- The caps of persons and of ephemeral keys, as before, and what counts together: the people of one client who are one human.
CREATE OR REPLACE VIEW payer_cap AS
  SELECT p.id AS payer_id, 'person' AS kind, coalesce(p.daily_cap_usd, c.person_daily_cap_usd) AS daily_cap_usd,
    coalesce(p.monthly_cap_usd, c.person_monthly_cap_usd) AS monthly_cap_usd, NULL::numeric AS total_cap_usd,
    p.client_id::text || ' ' || coalesce(p.same_as, p.id) AS counts_as
  FROM person p JOIN client c ON c.id = p.client_id
  UNION ALL
  SELECT id, 'ephemeral_key', NULL, NULL, max_total_usd, id::text FROM ephemeral_key;

-- Returns the payers whose spending counts together with that of one: the payer, and the people of the same client who are the same
-- human. IS NOT DISTINCT FROM keeps the planner from reading all people of the client.
CREATE FUNCTION payers_like(payer uuid) RETURNS TABLE (payer_id uuid) LANGUAGE sql STABLE AS $$
  SELECT payer
  UNION ALL
  SELECT other.id FROM person p
  JOIN person other ON other.id <> p.id AND (other.same_as = coalesce(p.same_as, p.id) OR other.id = p.same_as)
    AND other.client_id IS NOT DISTINCT FROM p.client_id
  WHERE p.id = payer
$$;

-- Returns what a payer, and those who are the same human, have spent on a day, in its month and, if in_all, altogether.
CREATE OR REPLACE FUNCTION payer_spent(payer uuid, on_day date, in_all boolean)
  RETURNS TABLE (today_usd numeric, month_usd numeric, total_usd numeric) LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(s.usd) FILTER (WHERE s.day = on_day), 0),
    coalesce(sum(s.usd) FILTER (WHERE s.day >= date_trunc('month', on_day::timestamp)::date), 0), coalesce(sum(s.usd), 0)
  FROM payers_like(payer) AS alike JOIN payer_spending s ON s.payer_id = alike.payer_id
  WHERE s.day >= CASE WHEN in_all THEN '-infinity' ELSE date_trunc('month', on_day::timestamp)::date END
$$;

-- Returns whether payers stay within their caps, as before. What one adds counts on the caps of all who are the same human.
CREATE OR REPLACE FUNCTION payers_within_caps(payers uuid[], usd numeric[], on_day date) RETURNS boolean LANGUAGE plpgsql VOLATILE
  SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM (
      SELECT c.*, sum(a.usd) OVER (PARTITION BY c.counts_as) AS adds
      FROM unnest(payers, usd) AS a(payer_id, usd)
      LEFT JOIN LATERAL (SELECT * FROM payer_cap WHERE payer_id = a.payer_id OFFSET 0) AS c ON TRUE
    ) AS c
    WHERE c.payer_id IS NULL OR coalesce(c.daily_cap_usd, c.monthly_cap_usd, c.total_cap_usd) IS NOT NULL AND EXISTS (
      SELECT FROM payer_spent(c.payer_id, on_day, c.total_cap_usd IS NOT NULL) AS spent
      WHERE spent.today_usd + c.adds > c.daily_cap_usd OR spent.month_usd + c.adds > c.monthly_cap_usd
        OR spent.total_usd + c.adds > c.total_cap_usd));
END
$$;

-- people_merged: two people are one human from then on.
ALTER TABLE activity DROP CONSTRAINT activity_action_check, ADD CONSTRAINT activity_action_check CHECK (action IN (
  'client_created', 'limits_changed', 'scopes_changed', 'operations_changed', 'key_issued', 'key_revoked', 'wallet_low',
  'wallet_recovered', 'key_paid_twice', 'database_recovered', 'change_requested', 'change_approved', 'change_rejected',
  'emergency_change', 'dual_control_changed', 'beneficiary_added', 'beneficiary_removed', 'configuration_changed',
  'provider_changed', 'person_added', 'person_limits_changed', 'person_revoked', 'ephemeral_key_issued',
  'ephemeral_key_revoked', 'key_claimed', 'people_merged'));
ALTER TABLE pending_change DROP CONSTRAINT pending_change_kind_check,
  ADD CONSTRAINT pending_change_kind_check CHECK (kind IN ('create_client', 'change_client', 'issue_key', 'lift_stop', 'merge_people'));
