-- A client pays a phone number of another country than the item states only if an operator allows it.

INSERT INTO migration_compatibility VALUES ('20261129061000_foreign_numbers', '20261124000000_init');

ALTER TABLE client ADD COLUMN allow_foreign_numbers boolean NOT NULL DEFAULT FALSE;
