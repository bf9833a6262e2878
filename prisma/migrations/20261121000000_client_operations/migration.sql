-- What of the interface a client may use; null: all of it, operations that are still to come included. An empty list is
-- refused, for there are readers to whom it and null look the same; who may do nothing has its keys revoked.
ALTER TABLE client ADD COLUMN operations text[] CHECK (cardinality(operations) > 0 AND array_position(operations, NULL) IS NULL);
