-- The whole database of the sandbox. It shares nothing with the database of the proxy. TRUNCATE is never
-- refused, because it resets the sandbox.

-- Accounts and wallets --------------------------------------------------------------------------------------

-- The owner of a key (parent_id is null), or a sub-account of one.
CREATE TABLE accounts (
  id           text PRIMARY KEY,
  name         text NOT NULL,
  parent_id    text REFERENCES accounts ON DELETE SET NULL ON UPDATE CASCADE,
  api_key_hash text, -- SHA-256 of the key, hexadecimal. The key itself is never stored
  -- Fields of the request that created a sub-account.
  email        text,
  first_name   text,
  last_name    text,
  phone_number text,
  meta         jsonb,
  -- Its own address for events, as an account of a provider's portal may have.
  events_url    text, -- null uses the address of the settings
  events_secret text, -- null uses the secret of the settings
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT accounts_key_of_owners CHECK (api_key_hash IS NULL OR parent_id IS NULL),
  CONSTRAINT accounts_events_secret_with_url CHECK (events_secret IS NULL OR events_url IS NOT NULL)
);
CREATE UNIQUE INDEX accounts_api_key_hash_key ON accounts (api_key_hash);
CREATE INDEX accounts_parent_id_idx ON accounts (parent_id);

CREATE TABLE wallets (
  id         text PRIMARY KEY,
  account_id text NOT NULL REFERENCES accounts ON DELETE RESTRICT ON UPDATE CASCADE,
  type       text NOT NULL CONSTRAINT wallets_type_known CHECK (type IN ('chi', 'momo', 'airtime')),
  balance    numeric(20,6) NOT NULL CONSTRAINT wallets_balance_not_negative CHECK (balance >= 0) -- USD
);
CREATE UNIQUE INDEX wallets_account_id_type_key ON wallets (account_id, type);

-- The ledger ------------------------------------------------------------------------------------------------
-- Every movement is a posting: entries of wallets and of the sandbox's own accounts that sum to zero.

CREATE SEQUENCE ledger_postings;

CREATE TABLE ledger_entries (
  id             bigserial PRIMARY KEY,
  posting_id     bigint NOT NULL,
  wallet_id      text REFERENCES wallets ON DELETE RESTRICT ON UPDATE CASCADE,
  own_account    text CONSTRAINT ledger_entries_own_account_known CHECK (own_account IN ('outside', 'payouts', 'issued credit', 'fees')),
  amount         numeric(20,6) NOT NULL, -- USD, negative when value left the account
  -- Only wallets have running balances. All payouts would wait for the one row of an own account.
  balance_before numeric(20,6),
  new_balance    numeric(20,6),
  description    text NOT NULL,
  date           timestamptz(3) NOT NULL,
  CONSTRAINT ledger_entries_one_account CHECK (num_nonnulls(wallet_id, own_account) = 1),
  CONSTRAINT ledger_entries_balance_of_wallets CHECK (num_nonnulls(wallet_id, balance_before, new_balance) IN (0, 3)),
  CONSTRAINT ledger_entries_adds_up CHECK (balance_before + amount = new_balance)
);
CREATE INDEX ledger_entries_wallet_id_id_idx ON ledger_entries (wallet_id, id);
CREATE INDEX ledger_entries_posting_id_idx ON ledger_entries (posting_id);

-- One statement writes all entries of a posting.
CREATE FUNCTION postings_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wrong bigint := (SELECT posting_id FROM added GROUP BY posting_id HAVING sum(amount) <> 0 LIMIT 1);
BEGIN
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'the entries of posting % do not sum to zero', wrong USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER ledger_entries_sum_to_zero AFTER INSERT ON ledger_entries
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION postings_sum_to_zero();

-- Transactions ----------------------------------------------------------------------------------------------

-- One item of a batch, a transfer, or a collected payment. A deleted transaction keeps its row, with the
-- status `deleted`.
CREATE TABLE transactions (
  id              text PRIMARY KEY,
  seq             bigserial, -- the order of creation
  chi_ref         text NOT NULL,
  issue_id        text NOT NULL,
  issue_date      timestamptz(3) NOT NULL,
  issuer_id       text NOT NULL REFERENCES accounts ON DELETE RESTRICT ON UPDATE CASCADE,
  type            text NOT NULL,
  status          text NOT NULL,
  value_in_usd    numeric(20,6) NOT NULL CONSTRAINT transactions_value_positive CHECK (value_in_usd > 0),
  fee             numeric(20,6) NOT NULL DEFAULT 0 CONSTRAINT transactions_fee_not_negative CHECK (fee >= 0), -- USD, its part of the batch's fee
  -- The truth about its money, which lists and answers may contradict.
  wallet          text CONSTRAINT transactions_wallet_known CHECK (wallet IN ('chi', 'momo', 'airtime')), -- the paying or receiving wallet. Null if the link pays it
  money           text NOT NULL DEFAULT 'kept' CONSTRAINT transactions_money_known CHECK (money IN ('kept', 'paid', 'redeemed')),
  fee_paid        numeric(20,6) NOT NULL DEFAULT 0 CONSTRAINT transactions_fee_paid_not_negative CHECK (fee_paid >= 0), -- USD, with fees charged later
  email           text,
  twitter         text,
  phone_number    text,
  country_to_send text,
  momo_code       text,
  reference       text,
  receiver        text,
  description     text,
  redeem_data     jsonb, -- the redemption by its recipient
  meta            jsonb
);
CREATE UNIQUE INDEX transactions_chi_ref_key ON transactions (chi_ref);
CREATE UNIQUE INDEX transactions_seq_key ON transactions (seq);
CREATE INDEX transactions_issue_id_idx ON transactions (issue_id);
CREATE INDEX transactions_issuer_id_seq_idx ON transactions (issuer_id, seq);
CREATE INDEX transactions_unpaid_idx ON transactions (issue_date) WHERE status = 'unpaid';

-- A status that a transaction had. Triggers write it, so that every change has its row.
CREATE TABLE status_changes (
  id             bigserial PRIMARY KEY,
  transaction_id text NOT NULL REFERENCES transactions ON DELETE RESTRICT ON UPDATE CASCADE,
  status         text NOT NULL,
  changed_at     timestamptz(3) NOT NULL
);
CREATE INDEX status_changes_transaction_id_id_idx ON status_changes (transaction_id, id);

CREATE FUNCTION record_first_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO status_changes (transaction_id, status, changed_at)
  SELECT id, status, clock_timestamp() FROM added ORDER BY seq;
  RETURN NULL;
END
$$;
CREATE TRIGGER transactions_first_status AFTER INSERT ON transactions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION record_first_status();

CREATE FUNCTION record_status_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO status_changes (transaction_id, status, changed_at)
  SELECT after.id, after.status, clock_timestamp()
  FROM after JOIN before USING (id) WHERE after.status <> before.status ORDER BY after.seq;
  RETURN NULL;
END
$$;
CREATE TRIGGER transactions_status_change AFTER UPDATE ON transactions
  REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION record_status_change();

-- The next status of a transaction, which it takes if it still has from_status when the change is due.
CREATE TABLE due_changes (
  transaction_id text PRIMARY KEY REFERENCES transactions ON DELETE RESTRICT ON UPDATE CASCADE,
  from_status    text NOT NULL,
  to_status      text NOT NULL,
  due_at         timestamptz(3) NOT NULL
);
CREATE INDEX due_changes_due_at_idx ON due_changes (due_at);

-- Rows of the ledger and statuses are only added.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is only added to', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE ON ledger_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER status_changes_append_only BEFORE UPDATE OR DELETE ON status_changes
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Arrivals --------------------------------------------------------------------------------------------------

-- The ground truth: each request that arrived, and whether it was carried out. Each row changes twice within
-- moments. Free space in its page keeps these changes out of the index.
CREATE TABLE arrivals (
  seq          bigserial PRIMARY KEY,
  operation    text NOT NULL, -- such as POST /payouts/airtime
  query        text NOT NULL, -- as it arrived, without the question mark
  body         text, -- as it arrived. Null if there was none, or it was incomplete
  account_id   text, -- the account of its key. Null for an unknown key
  fault        text, -- the fault that affected it
  arrived_at   timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  processed    boolean NOT NULL DEFAULT false,
  processed_at timestamptz(3),
  chi_refs     text[] NOT NULL DEFAULT '{}',
  answered_at  timestamptz(3),
  http_status  integer,
  CONSTRAINT arrivals_processed_once_it_was CHECK (processed = (processed_at IS NOT NULL)),
  CONSTRAINT arrivals_answered_with_a_status CHECK ((answered_at IS NULL) = (http_status IS NULL))
) WITH (fillfactor = 70);

-- Events ----------------------------------------------------------------------------------------------------

-- The outbox of events: one for each status change that commits while there is a receiver.
CREATE TABLE events (
  id               text PRIMARY KEY DEFAULT 'evt_' || replace(gen_random_uuid()::text, '-', ''),
  status_change_id bigint NOT NULL,
  due_at           timestamptz(3) DEFAULT clock_timestamp(), -- null once delivered or given up
  delivered_at     timestamptz(3),
  tries            integer NOT NULL DEFAULT 0, -- since the event was created or requested again
  attempts         jsonb NOT NULL DEFAULT '[]' -- [{at, httpStatus, error}], oldest first
);
CREATE INDEX events_due ON events (due_at) WHERE due_at IS NOT NULL;

-- Has one row while there is a receiver.
CREATE TABLE events_wanted (
  wanted boolean PRIMARY KEY
);

-- The accounts whose events go to an address of their own. A sub-account's go to that of its parent.
CREATE VIEW event_receivers AS
SELECT accounts.id AS account_id, owner.events_url AS url, owner.events_secret AS secret
FROM accounts JOIN accounts AS owner ON owner.id = coalesce(accounts.parent_id, accounts.id)
WHERE owner.events_url IS NOT NULL;

-- Runs in the transaction of the change itself. The ids of status changes are not assigned in the order of
-- their commits, so a reader that remembers the last id would miss some.
CREATE FUNCTION note_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events (status_change_id)
  SELECT changed.id FROM changed JOIN transactions ON transactions.id = changed.transaction_id
  WHERE EXISTS (SELECT FROM events_wanted) OR EXISTS (SELECT FROM event_receivers WHERE account_id = issuer_id)
  ORDER BY changed.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER status_changes_note_events AFTER INSERT ON status_changes
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_events();
