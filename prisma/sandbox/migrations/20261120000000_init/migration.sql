CREATE TABLE "accounts" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "parent_id" TEXT,
    "api_key_hash" TEXT,

    CONSTRAINT "accounts_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "wallets" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "balance" DECIMAL(20,6) NOT NULL,

    CONSTRAINT "wallets_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "wallets_type_known" CHECK ("type" IN ('chi', 'momo', 'airtime')),
    CONSTRAINT "wallets_balance_not_negative" CHECK ("balance" >= 0)
);

CREATE TABLE "wallet_entries" (
    "id" BIGSERIAL NOT NULL,
    "wallet_id" TEXT NOT NULL,
    "amount" DECIMAL(20,6) NOT NULL,
    "balance_before" DECIMAL(20,6) NOT NULL,
    "new_balance" DECIMAL(20,6) NOT NULL,
    "description" TEXT NOT NULL,
    "date" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wallet_entries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "wallet_entries_adds_up" CHECK ("balance_before" + "amount" = "new_balance")
);

CREATE TABLE "transactions" (
    "id" TEXT NOT NULL,
    "chi_ref" TEXT NOT NULL,
    "issue_id" TEXT NOT NULL,
    "issue_date" TIMESTAMPTZ(3) NOT NULL,
    "issuer_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "value_in_usd" DECIMAL(20,6) NOT NULL,
    "email" TEXT,
    "twitter" TEXT,
    "phone_number" TEXT,
    "country_to_send" TEXT,
    "momo_code" TEXT,
    "reference" TEXT,
    "receiver" TEXT,
    "description" TEXT,

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "transactions_value_positive" CHECK ("value_in_usd" > 0)
);

CREATE UNIQUE INDEX "accounts_api_key_hash_key" ON "accounts"("api_key_hash");
CREATE INDEX "accounts_parent_id_idx" ON "accounts"("parent_id");
CREATE UNIQUE INDEX "wallets_account_id_type_key" ON "wallets"("account_id", "type");
CREATE INDEX "wallet_entries_wallet_id_id_idx" ON "wallet_entries"("wallet_id", "id");
CREATE UNIQUE INDEX "transactions_chi_ref_key" ON "transactions"("chi_ref");
CREATE INDEX "transactions_issue_id_idx" ON "transactions"("issue_id");
CREATE INDEX "transactions_issuer_id_issue_date_idx" ON "transactions"("issuer_id", "issue_date");

ALTER TABLE "accounts" ADD CONSTRAINT "accounts_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "accounts"("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "wallets" ADD CONSTRAINT "wallets_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "wallet_entries" ADD CONSTRAINT "wallet_entries_wallet_id_fkey" FOREIGN KEY ("wallet_id") REFERENCES "wallets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_issuer_id_fkey" FOREIGN KEY ("issuer_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
