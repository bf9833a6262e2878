-- The clients of the generated history: twelve apps, the busiest first, each with three unknown keys and
-- three hundred clerks on whose behalf it calls.
-- Settings: seed.random (any whole number), seed.begin (an instant).
INSERT INTO client (id, name, scopes, created_at)
SELECT overlay(uuid_floor(begin)::text PLACING '7000-8000-' || lpad(to_hex(n), 12, '0') FROM 15)::uuid,
  (ARRAY['shop', 'rewards', 'payroll', 'lottery', 'surveys', 'games', 'refunds', 'support', 'partners', 'field', 'research', 'pilot'])[n],
  '{pay,write,read}', begin
FROM generate_series(1, 12) AS n, (SELECT current_setting('seed.begin')::timestamptz AS begin) AS settings;

INSERT INTO api_key (id, client_id, sha256, hint, created_at, person)
SELECT overlay(c.id::text PLACING '700' || n FROM 15 FOR 4)::uuid, c.id, sha256(convert_to(c.id::text || n || gen_random_uuid(), 'UTF8')), 'seed',
  c.created_at, CASE WHEN n = 3 THEN 'owner-of-' || c.name END
FROM client c CROSS JOIN generate_series(1, 3) AS n WHERE c.created_at = current_setting('seed.begin')::timestamptz;

INSERT INTO person (id, client_id, sha256, name, salt, first_seen_at)
SELECT overlay(c.id::text PLACING '7' || lpad(to_hex(n), 3, '0') FROM 15 FOR 4)::uuid, c.id, sha256(convert_to(c.id::text || n, 'UTF8')),
  'clerk-' || n, decode(md5(c.id::text || n || clock_timestamp()), 'hex'), c.created_at
FROM client c CROSS JOIN generate_series(0, 300) AS n WHERE c.created_at = current_setting('seed.begin')::timestamptz;
