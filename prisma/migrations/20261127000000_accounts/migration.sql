-- Accounts at the upstream. Each client belongs to one. Records of `main` name no account, like those of programs before this migration.

INSERT INTO migration_compatibility VALUES ('20261127000000_accounts', '20261124000000_init');

ALTER TABLE client ADD COLUMN account text NOT NULL DEFAULT 'main' CHECK (account ~ '^[a-z][a-z0-9-]{0,23}$');

-- Its calls, its caps and what it owns are of one account. A client of another account is another client.
CREATE FUNCTION forbid_account_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a client keeps its upstream account' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER client_keeps_account BEFORE UPDATE ON client
FOR EACH ROW WHEN (NEW.account <> OLD.account) EXECUTE FUNCTION forbid_account_change();

-- The account that was read. Null: main.
ALTER TABLE source_read ADD COLUMN account text CHECK (account <> 'main');

-- The account that sent an event. Null: main. The ID of an event of another account begins with the account.
ALTER TABLE upstream_event ADD COLUMN account text CHECK (account <> 'main');

-- The account that a run compares, and that a finding is about. Null: main. Programs before this migration insert a run ON CONFLICT
-- (due_at), so that constraint stays, and the scheduled times of the other accounts have a column of their own.
ALTER TABLE reconciliation_run
  ADD COLUMN account text CHECK (account <> 'main'),
  ADD COLUMN account_due_at timestamptz,
  ADD UNIQUE (account, account_due_at);
ALTER TABLE finding ADD COLUMN account text CHECK (account <> 'main');

CREATE OR REPLACE VIEW audit.source_reads AS
  SELECT r.id, r.source, audit.mask_contacts(r.subject) AS subject, r.from_at, r.to_at, r.caused_by, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.read_at, e.complete, e.failure, e.http_status, e.bytes, e.sha256, e.rows, e.kept,
    e.faults, e.ended_at, coalesce(r.account, 'main') AS account
  FROM public.source_read r LEFT JOIN public.source_read_end e ON e.read_id = r.id;

CREATE OR REPLACE VIEW audit.reconciliation_runs AS
  SELECT r.id, r.from_at, r.to_at, r.as_of, r.historical, r.settings, coalesce(r.due_at, r.account_due_at) AS due_at, r.client_id, r.key_id,
    audit.mask_contacts(r.actor) AS actor, r.started_at, e.result, e.failure, coalesce(e.read_id, r.read_id) AS read_id,
    e.totals, e.ended_at, coalesce(r.account, 'main') AS account
  FROM public.reconciliation_run r LEFT JOIN public.reconciliation_run_end e ON e.run_id = r.id;

CREATE OR REPLACE VIEW audit.findings AS
  SELECT id, category, subject, call_id, position, upstream_ref, upstream_id, batch_ref, wallet_id, occurred_at, run_id, found_at,
    coalesce(account, 'main') AS account
  FROM public.finding;

CREATE OR REPLACE VIEW audit.upstream_events AS
  SELECT id, event_id, event_type, batch_ref, upstream_id, upstream_ref, status, amount_usd, signed_at, received_at,
    coalesce(account, 'main') AS account
  FROM public.upstream_event;

-- For auditors. A call is of the account of its client.
CREATE OR REPLACE VIEW audit.clients AS SELECT id, name, scopes, created_at, account FROM public.client;
