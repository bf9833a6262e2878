-- The operations of the interface that a client may use. Null means all of them, including future ones. An empty list
-- is rejected, because some readers cannot tell it from null. To shut a client out, revoke its keys.
ALTER TABLE client ADD COLUMN operations text[] CHECK (cardinality(operations) > 0 AND array_position(operations, NULL) IS NULL);
