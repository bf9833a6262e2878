-- Whom the made-up history is of: twelve apps, of which the first are the busiest, with three keys each that nobody knows.
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

CREATE TEMP TABLE seed_key AS
SELECT row_number() OVER (ORDER BY c.id, k.id) - 1 AS place, c.id AS client_id, k.id AS key_id
FROM client c JOIN api_key k ON k.client_id = c.id WHERE k.hint = 'seed';

CREATE TEMP TABLE seed_country (place integer, name text, dial text, networks text[]);
INSERT INTO seed_country VALUES
  (0, 'Nigeria', '+234', '{}'), (1, 'Kenya', '+254', '{MPS}'), (2, 'Ghana', '+233', '{MTN,VDF,ATL}'), (3, 'Uganda', '+256', '{MPS,AIR}'),
  (4, 'Tanzania', '+255', '{VOD,TIG}'), (5, 'Rwanda', '+250', '{MTN}'), (6, 'Zambia', '+260', '{MTN,AIR}'), (7, 'Senegal', '+221', '{ORG}'),
  (8, 'Cameroon', '+237', '{MTN,ORG}'), (9, 'Malawi', '+265', '{TNM}'), (10, 'Benin', '+229', '{MOV}'), (11, 'Mali', '+223', '{ORG}'),
  (12, 'Togo', '+228', '{MOV}'), (13, 'Gambia', '+220', '{QCL}'), (14, 'Lesotho', '+266', '{VCL}');
