-- What reconciliation has read and matched is sealed: the end of a read and of a run have the hashes of its rows.

INSERT INTO migration_compatibility VALUES ('20261128194500_evidence', '20261124000000_init');

-- SHA-256 of the rows in each table, hex, as a JSON object by the names of the tables (src/journal/reconciliation/evidence.ts). A table without rows
-- is left out. Null: no table has any, or an earlier program wrote it.
ALTER TABLE source_read_end ADD COLUMN evidence json;
ALTER TABLE reconciliation_run_end ADD COLUMN evidence json;

-- The people of a transaction can be erased, so the sealed hash has salted commitments to them: to the recipient (email, phone, handle),
-- the receiver and the reference. A commitment is stored when what it commits to is erased, together with its salt.
ALTER TABLE upstream_transaction
  ADD COLUMN recipient_salt bytea,
  ADD COLUMN recipient_commitment bytea,
  ADD COLUMN receiver_salt bytea,
  ADD COLUMN receiver_commitment bytea,
  ADD COLUMN reference_salt bytea,
  ADD COLUMN reference_commitment bytea;
