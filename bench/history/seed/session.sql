-- Tables that each writing connection reads.
CREATE TEMP TABLE seed_key AS
SELECT row_number() OVER (ORDER BY c.id, k.id) - 1 AS place, c.id AS client_id, k.id AS key_id
FROM client c JOIN api_key k ON k.client_id = c.id WHERE k.hint = 'seed';

CREATE TEMP TABLE seed_person AS
SELECT client_id, id, name, salt FROM person WHERE name LIKE 'clerk-%' AND client_id IN (SELECT client_id FROM seed_key);

CREATE TEMP TABLE seed_country (place integer, name text, dial text, networks text[]);
INSERT INTO seed_country VALUES
  (0, 'Nigeria', '+234', '{}'), (1, 'Kenya', '+254', '{MPS}'), (2, 'Ghana', '+233', '{MTN,VDF,ATL}'), (3, 'Uganda', '+256', '{MPS,AIR}'),
  (4, 'Tanzania', '+255', '{VOD,TIG}'), (5, 'Rwanda', '+250', '{MTN}'), (6, 'Zambia', '+260', '{MTN,AIR}'), (7, 'Senegal', '+221', '{ORG}'),
  (8, 'Cameroon', '+237', '{MTN,ORG}'), (9, 'Malawi', '+265', '{TNM}'), (10, 'Benin', '+229', '{MOV}'), (11, 'Mali', '+223', '{ORG}'),
  (12, 'Togo', '+228', '{MOV}'), (13, 'Gambia', '+220', '{QCL}'), (14, 'Lesotho', '+266', '{VCL}');

-- Formats of instants in records: with milliseconds, and with microseconds.
CREATE FUNCTION pg_temp.seed_ms() RETURNS text IMMUTABLE RETURN 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
CREATE FUNCTION pg_temp.seed_us() RETURNS text IMMUTABLE RETURN 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';
