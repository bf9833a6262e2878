-- Every movement becomes a posting: entries of wallets and of the sandbox's own accounts that sum to zero.

ALTER TABLE "wallet_entries" RENAME TO "ledger_entries";
ALTER SEQUENCE "wallet_entries_id_seq" RENAME TO "ledger_entries_id_seq";
ALTER INDEX "wallet_entries_pkey" RENAME TO "ledger_entries_pkey";
ALTER INDEX "wallet_entries_wallet_id_id_idx" RENAME TO "ledger_entries_wallet_id_id_idx";
ALTER TABLE "ledger_entries" RENAME CONSTRAINT "wallet_entries_wallet_id_fkey" TO "ledger_entries_wallet_id_fkey";
ALTER TABLE "ledger_entries" RENAME CONSTRAINT "wallet_entries_adds_up" TO "ledger_entries_adds_up";

CREATE SEQUENCE "ledger_postings";

ALTER TABLE "ledger_entries"
    ADD COLUMN "posting_id" BIGINT,
    ADD COLUMN "own_account" TEXT,
    ALTER COLUMN "wallet_id" DROP NOT NULL,
    ALTER COLUMN "balance_before" DROP NOT NULL,
    ALTER COLUMN "new_balance" DROP NOT NULL;

-- The existing entries: the two sides of a transfer are one posting, and each other entry lacks its other side.
UPDATE "ledger_entries" SET "posting_id" = "posting"."id"
FROM (
    SELECT "id" AS "entry_id",
           CASE WHEN "description" LIKE 'transfer %' THEN min("id") OVER (PARTITION BY "description") ELSE "id" END AS "id"
    FROM "ledger_entries"
) AS "posting"
WHERE "posting"."entry_id" = "ledger_entries"."id";

SELECT setval('ledger_postings', max("posting_id")) FROM "ledger_entries" HAVING count(*) > 0;

INSERT INTO "ledger_entries" ("posting_id", "own_account", "amount", "description", "date")
SELECT "posting_id",
       CASE WHEN "description" = 'opening balance' THEN 'outside'
            WHEN EXISTS (SELECT FROM "transactions" WHERE "issue_id" = substr("ledger_entries"."description", 8) AND "type" = 'credit') THEN 'issued credit'
            ELSE 'payouts' END,
       -sum("amount"), "description", max("date")
FROM "ledger_entries"
GROUP BY "posting_id", "description"
HAVING sum("amount") <> 0;

ALTER TABLE "ledger_entries"
    ALTER COLUMN "posting_id" SET NOT NULL,
    ADD CONSTRAINT "ledger_entries_own_account_known" CHECK ("own_account" IN ('outside', 'payouts', 'issued credit', 'fees')),
    ADD CONSTRAINT "ledger_entries_one_account" CHECK (num_nonnulls("wallet_id", "own_account") = 1),
    ADD CONSTRAINT "ledger_entries_balance_of_wallets" CHECK (num_nonnulls("wallet_id", "balance_before", "new_balance") IN (0, 3));

CREATE INDEX "ledger_entries_posting_id_idx" ON "ledger_entries"("posting_id");

-- Checked when the database transaction commits, because a posting may be written in several statements.
CREATE FUNCTION "posting_sums_to_zero"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum("amount") FROM "ledger_entries" WHERE "posting_id" = NEW."posting_id") <> 0 THEN
        RAISE EXCEPTION 'the entries of posting % do not sum to zero', NEW."posting_id" USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER "ledger_entries_sum_to_zero" AFTER INSERT ON "ledger_entries"
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "posting_sums_to_zero"();

-- Transactions: fees, the choice of a recipient, other facts, and the order in which they were created.
ALTER TABLE "transactions"
    ADD COLUMN "seq" BIGSERIAL,
    ADD COLUMN "fee" DECIMAL(20,6) NOT NULL DEFAULT 0,
    ADD COLUMN "redeem_data" JSONB,
    ADD COLUMN "meta" JSONB,
    ADD CONSTRAINT "transactions_fee_not_negative" CHECK ("fee" >= 0);
CREATE UNIQUE INDEX "transactions_seq_key" ON "transactions"("seq");
DROP INDEX "transactions_issuer_id_issue_date_idx";
CREATE INDEX "transactions_issuer_id_seq_idx" ON "transactions"("issuer_id", "seq");
CREATE INDEX "transactions_unpaid_idx" ON "transactions"("issue_date") WHERE "status" = 'unpaid';

-- Every status that a transaction ever had. A trigger writes it, so that no change lacks its row.
CREATE TABLE "status_changes" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "status_changes_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "status_changes_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "status_changes_transaction_id_id_idx" ON "status_changes"("transaction_id", "id");

INSERT INTO "status_changes" ("transaction_id", "status", "changed_at")
SELECT "id", "status", "issue_date" FROM "transactions" ORDER BY "seq";

CREATE FUNCTION "record_first_status"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "status_changes" ("transaction_id", "status", "changed_at")
    SELECT "id", "status", clock_timestamp() FROM "added" ORDER BY "seq";
    RETURN NULL;
END $$;
CREATE TRIGGER "transactions_first_status" AFTER INSERT ON "transactions"
    REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "record_first_status"();

CREATE FUNCTION "record_status_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "status_changes" ("transaction_id", "status", "changed_at")
    SELECT "after"."id", "after"."status", clock_timestamp()
    FROM "after" JOIN "before" USING ("id") WHERE "after"."status" <> "before"."status" ORDER BY "after"."seq";
    RETURN NULL;
END $$;
CREATE TRIGGER "transactions_status_change" AFTER UPDATE ON "transactions"
    REFERENCING OLD TABLE AS "before" NEW TABLE AS "after" FOR EACH STATEMENT EXECUTE FUNCTION "record_status_change"();

-- Both histories are only added to. TRUNCATE stays possible, because it resets the sandbox.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is only added to', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER "ledger_entries_append_only" BEFORE UPDATE OR DELETE ON "ledger_entries"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "status_changes_append_only" BEFORE UPDATE OR DELETE ON "status_changes"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- Later statuses of transactions.
CREATE TABLE "due_changes" (
    "transaction_id" TEXT NOT NULL,
    "from_status" TEXT NOT NULL,
    "to_status" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "due_changes_pkey" PRIMARY KEY ("transaction_id"),
    CONSTRAINT "due_changes_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "transactions"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
CREATE INDEX "due_changes_due_at_idx" ON "due_changes"("due_at");

-- The properties of a new sub-account.
ALTER TABLE "accounts"
    ADD COLUMN "email" TEXT,
    ADD COLUMN "first_name" TEXT,
    ADD COLUMN "last_name" TEXT,
    ADD COLUMN "phone_number" TEXT,
    ADD COLUMN "meta" JSONB,
    ADD COLUMN "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
