-- Stands in for the table of status changes while there is none: each transaction's first status.
CREATE TABLE "status_changes" (
    "id" BIGSERIAL PRIMARY KEY,
    "transaction_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL
);

CREATE FUNCTION note_first_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO status_changes (transaction_id, status, changed_at) SELECT id, status, issue_date FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER transactions_first_status AFTER INSERT ON transactions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_first_status();
