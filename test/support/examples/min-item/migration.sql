INSERT INTO migration_compatibility VALUES ('20270101000000_min_item', '20261124000000_init');

ALTER TABLE client ADD COLUMN min_item_usd numeric(20,6) CHECK (min_item_usd > 0);
