-- A client pays a phone number of another country than the item states only if an operator allows it.

INSERT INTO migration_compatibility VALUES ('20261129061000_number_matches_country', '20261124000000_init');

ALTER TABLE client ADD COLUMN number_matches_country boolean NOT NULL DEFAULT TRUE;
