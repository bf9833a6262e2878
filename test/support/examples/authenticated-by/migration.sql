INSERT INTO migration_compatibility VALUES ('20270101000000_authenticated_by', '20261124000000_init');

ALTER TABLE intent ADD COLUMN authenticated_by text;
ALTER TABLE refusal ADD COLUMN authenticated_by text;
