-- Runs once, when the Postgres of docker-compose.yml is created. The owner of the records is not a superuser, and can
-- create the three roles of the migrations.
\getenv password POSTGRES_PASSWORD
CREATE ROLE payout_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE payout_proxy OWNER payout_owner;
-- The superuser signs in only from inside the container: docker compose exec postgres psql -U postgres
ALTER ROLE postgres PASSWORD NULL;
